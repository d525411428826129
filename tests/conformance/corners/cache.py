"""Damaged entries of the kernel cache: a right result, or a repaired entry."""
import random, shutil

from corners.small_net import compiled_run, small_net


def flip_bits(count, chance):
    def damage(data):
        for _ in range(count if data else 0):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        return data
    return damage


def check(context, report):
    case, chance = small_net(), random.Random(1)
    folder = case.write(context.new_folder())
    whole = folder / "cache"

    def run(cache):
        return compiled_run(context, case, folder, cache)

    first = run(whole)
    report.check("an empty cache", "" if first == "right" else first)
    files = sorted(p for p in whole.rglob("*") if p.is_file())
    kernels = [p for p in files if p.suffix == ".o" and "runtime" not in p.name]
    entries = [p for p in files if "models" not in p.relative_to(whole).parts and p.name != "key"]
    memories = [p for p in files if p.suffix == ".memory"]
    models = [p for p in files if p.name == "libmodel.so"]
    report.check("kernels and models to damage", "" if kernels and models else "there are none in the cache")
    half, empty = (lambda data: data[:len(data) // 2]), (lambda data: bytearray())
    attacks = [(kind, chance.choice(chosen), damage)
               for kind, chosen, damage, count in (
                   ("kernel, 1 bit", kernels, flip_bits(1, chance), 10),
                   ("kernel, 40 bits", kernels, flip_bits(40, chance), 8),
                   ("entry cut in half", entries, half, 8), ("entry empty", entries, empty, 6),
                   ("memory, 1 bit", memories, flip_bits(1, chance), 5),
                   ("model, 40 bits", models, flip_bits(40, chance), 8),
                   ("model cut in half", models, half, 1), ("model empty", models, empty, 1))
               if chosen for _ in range(count)]
    damaged = [(kind, path, bytes(damage(bytearray(path.read_bytes()))))
               for kind, path, damage in context.some(attacks)]

    def problem(attack):
        """Two runs: neither may be wrong or end by a signal, and the second must be right."""
        kind, path, data = attack
        copy = context.new_folder() / "cache"
        shutil.copytree(whole, copy)
        if not kind.startswith("model"):  # else the kernels would not be read
            shutil.rmtree(copy / "models", ignore_errors=True)
        (copy / path.relative_to(whole)).write_bytes(data)
        first, second = run(copy), run(copy)
        good = second == "right" and (first == "right" or first.startswith("refused"))
        return "" if good else f"first run: {first}; second run: {second}"

    for (kind, path, _), found in zip(damaged, context.parallel(problem, damaged)):
        report.check(f"{kind} ({path.name})", found)
