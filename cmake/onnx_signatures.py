"""Writes what ONNX says of its operators as rows of a C++ table (runtime/onnx/signatures.cpp): for every version of
every operator the fewest and most inputs and outputs, and the names of its attributes, those that must be given with
a '!'.
"""
import sys

from onnx import defs


def row(schema):
    names = " ".join(sorted(a.name + "!" * a.required for a in schema.attributes.values()))
    counts = f"{schema.min_input}, {schema.max_input}, {schema.min_output}, {schema.max_output}"
    return f'{{"{schema.domain}", "{schema.name}", {schema.since_version}, {counts}, "{names}"}},\n'


def main():
    schemas = sorted(defs.get_all_schemas_with_history(), key=lambda s: (s.domain, s.name, s.since_version))
    newest = {s.domain: max(t.since_version for t in schemas if t.domain == s.domain) for s in schemas}
    newest[""] = defs.onnx_opset_version()
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write("const Signature signatures[] = {\n" + "".join(map(row, schemas)) + "};\n")
        out.write("const NewestOpset newest_opsets[] = {\n")
        out.write("".join(f'{{"{domain}", {version}}},\n' for domain, version in sorted(newest.items())) + "};\n")


if __name__ == "__main__":
    main()
