#include "autoscheduler/database.h"

#include <sqlite3.h>

#include <cstdlib>
#include <filesystem>

#include "autoscheduler/call_text.h"
#include "runtime/version.h"

namespace saltern::autoscheduler {

namespace {

constexpr int application = 0x53414c54;  // "SALT": tells our files from other programs' databases
constexpr int layout = 2;

const char *const make_table =
    "CREATE TABLE IF NOT EXISTS measurement("
    "kernel TEXT NOT NULL, call TEXT NOT NULL, target TEXT NOT NULL, cpu TEXT NOT NULL, knobs TEXT NOT NULL, "
    "milliseconds REAL, share_of_peak REAL NOT NULL, timed_out_after REAL, version TEXT NOT NULL, date TEXT NOT NULL, "
    "PRIMARY KEY(kernel, call, target, cpu, knobs))";

// Layout 1 did not say on which CPU a time was taken: its times are kept, as those of no known CPU.
const char *const set_layout_1_aside = "ALTER TABLE measurement RENAME TO layout_1; ";
const char *const take_layout_1 =
    "; INSERT INTO measurement SELECT kernel, call, target, '', knobs, milliseconds, share_of_peak, NULL, version, "
    "date "
    "FROM layout_1; DROP TABLE layout_1";

[[noreturn]] void broken(const std::string &path, sqlite3 *db) {
  fail("tuning database ", path, ": ", db ? sqlite3_errmsg(db) : "out of memory");
}

void execute(const std::string &path, sqlite3 *db, const std::string &sql) {
  if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) broken(path, db);
}

// A prepared statement with its values bound.
class Statement {
 public:
  Statement(const std::string &path, sqlite3 *db, const std::string &sql) : path_(path), db_(db) {
    if (sqlite3_prepare_v2(db, sql.c_str(), -1, &statement_, nullptr) != SQLITE_OK) broken(path, db);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement &) = delete;
  Statement &operator=(const Statement &) = delete;

  void bind(const std::string &value) { sqlite3_bind_text(statement_, ++bound_, value.c_str(), -1, SQLITE_TRANSIENT); }
  void bind(double value) { sqlite3_bind_double(statement_, ++bound_, value); }
  void bind_nothing() { sqlite3_bind_null(statement_, ++bound_); }

  // Whether there is a row.
  bool step() {
    const int code = sqlite3_step(statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) broken(path_, db_);
    return code == SQLITE_ROW;
  }
  std::string text(int column) const {
    const auto *t = sqlite3_column_text(statement_, column);
    return t ? reinterpret_cast<const char *>(t) : "";
  }
  double real(int column) const { return sqlite3_column_double(statement_, column); }
  int whole(int column) const { return sqlite3_column_int(statement_, column); }

 private:
  const std::string &path_;
  sqlite3 *db_;
  sqlite3_stmt *statement_ = nullptr;
  int bound_ = 0;
};

// The number that a query gives.
int number(const std::string &path, sqlite3 *db, const std::string &query) {
  Statement s(path, db, query);
  return s.step() ? s.whole(0) : 0;
}

// In a transaction: 0 for a file that is empty yet; an error for what is no tuning database, or of no known layout.
int layout_of(const std::string &path, sqlite3 *db) {
  const int owner = number(path, db, "PRAGMA application_id");
  // Not by its pages: a transaction has made the first one before anything is in it.
  if (owner != application && (owner != 0 || number(path, db, "SELECT count(*) FROM sqlite_master") > 0))
    fail("tuning database ", path, ": this is a database of another program");
  const int found = owner == application ? number(path, db, "PRAGMA user_version") : 0;
  if (found > layout) fail("tuning database ", path, ": of layout ", found, ", made by another version of Saltern");
  return found;
}

}  // namespace

Database::Database(const std::string &path, std::string cpu) : path_(path), cpu_(std::move(cpu)) {
  std::error_code ignored;
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  sqlite3 *db = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  handle_.reset(db, sqlite3_close);
  if (code != SQLITE_OK) broken(path, db);
  sqlite3_busy_timeout(db, 10000);
  if (number(path, db, "PRAGMA application_id") == application && number(path, db, "PRAGMA user_version") == layout)
    return;
  // Another process may be making the same file: what it is shows where nobody else can write.
  execute(path, db, "BEGIN IMMEDIATE");
  const int now = layout_of(path, db);
  if (now != layout)
    execute(path, db,
            (now == 1 ? set_layout_1_aside : "") + std::string(make_table) + (now == 1 ? take_layout_1 : "") +
                "; PRAGMA application_id=" + std::to_string(application) +
                "; PRAGMA user_version=" + std::to_string(layout));
  // The journal stays SQLite's usual one: to switch to a write-ahead log fails where others have the file open.
  execute(path, db, "COMMIT");
}

std::optional<Database> Database::existing(const std::string &path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  return Database(path);
}

void Database::record(const std::string &kernel, const Call &call, const std::string &target, const Result &result) {
  Statement s(path_, handle_.get(),
              "INSERT OR REPLACE INTO measurement VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ'))");
  for (const std::string &v : {kernel, to_text(call), target, cpu_, to_text(result.knobs)}) s.bind(v);
  if (result.failed())
    s.bind_nothing();
  else
    s.bind(result.milliseconds);
  s.bind(result.failed() ? 0 : result.share_of_peak);
  if (result.timed_out_after > 0)
    s.bind(result.timed_out_after);
  else
    s.bind_nothing();
  s.bind(version());
  s.step();
}

std::optional<Result> Database::one(const std::string &query, const std::vector<std::string> &values) const {
  Statement s(path_, handle_.get(),
              "SELECT knobs, milliseconds, share_of_peak, timed_out_after FROM measurement WHERE " + query);
  for (const std::string &v : values) s.bind(v);
  if (!s.step()) return std::nullopt;
  return Result{knobs_from_text(s.text(0)), s.real(1), s.real(2), s.real(3)};
}

std::optional<Result> Database::find(const std::string &kernel, const Call &call, const std::string &target,
                                     const Knobs &knobs) const {
  return one("kernel = ? AND call = ? AND target = ? AND cpu = ? AND knobs = ?",
             {kernel, to_text(call), target, cpu_, to_text(knobs)});
}

std::optional<Result> Database::best(const std::string &kernel, const Call &call, const std::string &target) const {
  return one(
      "kernel = ? AND call = ? AND target = ? AND cpu = ? AND milliseconds IS NOT NULL "
      "ORDER BY share_of_peak DESC, knobs LIMIT 1",
      {kernel, to_text(call), target, cpu_});
}

std::string default_database_path() {
  if (const char *path = std::getenv("SALTERN_TUNING_DATABASE"); path && *path) return path;
  const char *home = std::getenv("HOME");
  return std::string(home && *home ? home : ".") + "/.cache/saltern/tuning.sqlite";
}

std::string target_text(const std::string &instruction_set, int threads) {
  return threads <= 1 ? instruction_set : instruction_set + ", " + std::to_string(threads) + " threads";
}

}  // namespace saltern::autoscheduler
