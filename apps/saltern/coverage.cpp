#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/saltern/command.h"
#include "apps/saltern/coverage_facts.h"
#include "apps/saltern/table.h"

namespace saltern {

namespace {

using nlohmann::ordered_json;

struct Answer {
  const ListedName &name;
  CoverageFacts facts;

  const char *kind() const {
    return name.kind == ListedName::Kind::no_arithmetic ? "no arithmetic" : facts.works ? "works" : "missing";
  }
};

struct Answers {
  const NameList &list;
  std::vector<Answer> all;
  int working = 0, arithmetic = 0;  // of those that are, or are arithmetic

  Answers(const NameList &list, const Coverage &coverage) : list(list) {
    for (const ListedName &n : list.names) {
      all.push_back({n, coverage.of(list, n)});
      working += all.back().facts.works;
      arithmetic += n.kind != ListedName::Kind::no_arithmetic;
    }
  }
  // Of all names, and of those that are arithmetic; to three digits, rounded down: 1 is all of them.
  double share() const { return share_of(static_cast<double>(all.size())); }
  double share_of_arithmetic() const { return share_of(std::max(arithmetic, 1)); }

 private:
  double share_of(double count) const { return static_cast<int>(1000.0 * working / count) / 1000.0; }
};

// What is known of a row, under the names of columns.
struct Column {
  const char *name;
  std::string CoverageFacts::*fact;
};
constexpr Column columns[] = {{"algorithm", &CoverageFacts::algorithm},
                              {"gradient", &CoverageFacts::gradient},
                              {"kernel", &CoverageFacts::kernel},
                              {"gpu", &CoverageFacts::gpu},
                              {"cpp", &CoverageFacts::cpp},
                              {"python", &CoverageFacts::python},
                              {"onnx_in", &CoverageFacts::onnx_in},
                              {"onnx_out", &CoverageFacts::onnx_out}};

// The share of each list under its name, that of what is arithmetic, and all rows.
void print_json(const std::vector<Answers> &lists) {
  ordered_json out, of_arithmetic, names;
  for (const Answers &a : lists) {
    out[a.list.name] = a.share();
    of_arithmetic[a.list.name] = a.share_of_arithmetic();
    ordered_json &rows = names[a.list.name] = ordered_json::array();
    for (const Answer &row : a.all) {
      ordered_json r = {{"name", row.name.name}, {"group", row.name.group}, {"state", row.kind()}};
      if (!row.facts.here.empty()) r["here"] = row.facts.here;
      for (const Column &c : columns)
        if (const std::string &fact = row.facts.*c.fact; !fact.empty()) r[c.name] = fact;
      if (!row.facts.note.empty()) r["note"] = row.facts.note;
      rows.push_back(r);
    }
  }
  out["of_arithmetic"] = of_arithmetic;
  out["names"] = names;
  std::printf("%s\n", out.dump().c_str());
}

std::string or_dash(const std::string &fact) { return fact.empty() ? "-" : fact; }

void print_shares(const std::vector<Answers> &lists) {
  std::vector<std::vector<std::string>> rows;
  for (const Answers &a : lists) {
    char share[64];
    std::snprintf(share, sizeof share, "%.3f, %.3f of what is arithmetic", a.share(), a.share_of_arithmetic());
    rows.push_back(
        {a.list.name, share, std::to_string(a.working) + " of " + std::to_string(a.all.size()), a.list.source});
  }
  std::printf("%s", in_columns(rows).c_str());
}

void print_rows(const Answers &answers) {
  std::vector<std::vector<std::string>> rows = {{"name", "state", "here"}};
  for (const Column &c : columns) rows[0].emplace_back(c.name);
  rows[0].emplace_back("note");
  for (const Answer &a : answers.all) {
    std::vector<std::string> row = {a.name.name, a.kind(), or_dash(a.facts.here)};
    for (const Column &c : columns) row.push_back(or_dash(a.facts.*c.fact));
    row.push_back(a.facts.note);
    rows.push_back(row);
  }
  std::printf("%s", in_columns(rows).c_str());
}

// What docs/coverage.md has: one row for all names that are alike.
void print_markdown(const std::vector<Answers> &lists) {
  std::printf("| list | names of | here | share | of what is arithmetic |\n|---|---|---|---|---|\n");
  for (const Answers &a : lists)
    std::printf("| [%s](#%s) | %s | %d of %zu | %.3f | %.3f |\n", a.list.name.c_str(), a.list.name.c_str(),
                a.list.source.c_str(), a.working, a.all.size(), a.share(), a.share_of_arithmetic());
  for (const Answers &a : lists) {
    std::printf("\n## %s\n", a.list.name.c_str());
    std::map<std::vector<std::string>, std::string> alike;
    std::map<std::string, std::string> without;  // by reason
    for (const Answer &row : a.all) {
      const bool renamed = row.name.here != row.name.name;
      const std::string name = "`" + row.name.name + "`";
      if (!row.facts.works) {
        std::string &names = without[row.facts.note.empty() || renamed ? "missing" : row.facts.note];
        names += (names.empty() ? "" : " ") + name;
        continue;
      }
      std::vector<std::string> cells;
      for (const Column &c : columns) cells.push_back(or_dash(row.facts.*c.fact));
      std::string &names = alike[cells];
      names += (names.empty() ? "" : " ") + name + (renamed ? " (`" + row.name.here + "`)" : "");
    }
    if (!alike.empty()) {
      std::printf(
          "\n| algorithm | gradient | library kernel | GPU | C++ | Python | ONNX in | ONNX out | names |\n"
          "|---|---|---|---|---|---|---|---|---|\n");
      for (const auto &[cells, names] : alike) {
        for (const std::string &c : cells) std::printf("| %s ", c.c_str());
        std::printf("| %s |\n", names.c_str());
      }
    }
    if (!without.empty()) std::printf("\n| not here | names |\n|---|---|\n");
    for (const auto &[why, names] : without) std::printf("| %s | %s |\n", why.c_str(), names.c_str());
  }
}

struct CoverageOptions {
  bool json = false, markdown = false;
  std::string list;
};

int run_coverage(const CoverageOptions &o) {
  const Coverage coverage;
  const std::vector<NameList> lists = name_lists();
  std::vector<Answers> answers;
  for (const NameList &l : lists)
    if (o.list.empty() || o.list == l.name) answers.emplace_back(l, coverage);
  if (answers.empty()) throw BadInput("there is no list '" + o.list + "'; `saltern coverage` prints their names");
  if (o.json)
    print_json(answers);
  else if (o.markdown)
    print_markdown(answers);
  else if (o.list.empty())
    print_shares(answers);
  else
    print_rows(answers[0]);
  return 0;
}

}  // namespace

void define_coverage(CLI::App &app, Action &chosen) {
  auto o = std::make_shared<CoverageOptions>();
  app.add_option("--list", o->list, "One list of names, and a line for each");
  app.add_flag("--json", o->json, "One line of JSON: the share of each list that is here, and all names");
  app.add_flag("--markdown", o->markdown, "As docs/coverage.md has it");
  app.callback([=, &chosen] { chosen = [=] { return run_coverage(*o); }; });
}

}  // namespace saltern
