"""Random kernels for races.py: their PTX, and their statements for its model."""
import functools

MASK = 0xffffffff
BYTES = 8192
BASE = 1024  # of shared memory on a device


class Generator:
    """One kernel: its PTX, and its statements for the model."""

    def __init__(self, rng, name, kind):
        self.rng, self.name, self.lines, self.registers, self.predicates, self.labels = rng, name, [], 0, 0, 0
        self.block = rng.choice([None, None, (1, 32, 33, 64, 96, 100, 256)[rng.randrange(7)], rng.randrange(2, 130)])
        self.tidy = rng.choice([0.0, 0.5, 0.9, 1.0])
        self.counters, self.accesses, self.odd, self.copies = [], 0, rng.random() < 0.1, rng.random() < 0.5
        self.descriptors = 0
        self.loads = rng.random() < 0.35  # indices and guards that are loaded
        self.tiles, self.bulk, self.matrices = kind == "tiles", kind == "bulk", kind == "matrices"
        if self.matrices:
            self.block, self.odd, self.tidy = rng.choice([32, 64, 96]), False, rng.choice([0.9, 1.0])
        if self.tiles:
            self.block, self.tidy = rng.choice([128, 128, 128, 256]), rng.choice([0.9, 1.0])
            self.careful = rng.choice([0.8, 0.9, 1.0])  # how often a fence, a barrier or a wait is there
        if self.bulk:
            self.block, self.tidy, self.careful, self.odd, self.copies = rng.choice([32, 33, 64]), 1.0, rng.choice([0.8, 0.9, 1.0]), False, rng.random() < 0.2
            self.body = self.phases()
            return
        self.body = self.statements(0, rng.randrange(2, 5) if self.tiles else rng.randrange(2, 7), True)

    # ------------------------------------------------------------------------------------- expressions: a register, and a function of the environment

    def new(self):
        self.registers += 1
        return f"%r{self.registers}"

    def emit(self, text):
        self.lines.append(text)

    def leaf(self, uniform):
        kinds = ["constant", "n", "ctaid", "ntid"] + (["counter"] * 3 if self.counters else []) + ([] if uniform else ["tid"] * 6) + (["loaded"] * (2 if uniform else 4) if self.loads else [])
        kind = self.rng.choice(kinds)
        register = self.new()
        if kind == "constant":
            value = self.rng.choice([0, 1, 2, 3, 4, 7, 8, 16, 31, 32, 33, 64, 100, MASK, MASK - 3])
            self.emit(f"mov.u32 {register}, {value};")
            return register, lambda e: value
        if kind == "counter":
            name = self.rng.choice(self.counters)
            self.emit(f"mov.u32 {register}, {name};")
            return register, lambda e: e[name]
        if kind == "loaded":
            each, at = not uniform and self.rng.random() < 0.8, 64 + 4 * self.rng.randrange(4)
            self.emit(f"mul.wide.u32 %re, {'%dtid' if each else 0}, 4;\nadd.s64 %re, %re, %rd;\nld.global.u32 {register}, [%re+{at}];")
            return register, lambda e: e["memory"](at + (4 * e["tid"] if each else 0))
        self.emit(f"ld.param.u32 {register}, [n];" if kind == "n" else f"mov.u32 {register}, %{kind}.x;")
        return register, lambda e: e[kind]

    def expression(self, depth, uniform=False):
        if depth == 0 or self.rng.random() < 0.2:
            return self.leaf(uniform)
        a, f = self.expression(depth - 1, uniform)
        op = self.rng.choice(["add", "add", "sub", "mul", "xor", "and", "or", "shl", "shr", "rem"])
        register = self.new()
        if op in ("shl", "shr", "rem", "and", "mul"):
            by = self.rng.choice({"shl": [1, 2, 3, 5], "shr": [1, 2, 4], "rem": [3, 5, 7, 32, 33], "and": [1, 3, 7, 15, 30, 31, 0x70, 255], "mul": [2, 3, 4, 5, 32, 33]}[op])
            self.emit(f"{ {'shl': 'shl.b32', 'shr': 'shr.u32', 'rem': 'rem.u32', 'and': 'and.b32', 'mul': 'mul.lo.u32'}[op]} {register}, {a}, {by};")
            g = {"shl": lambda x: x << by & MASK, "shr": lambda x: x >> by, "rem": lambda x: x % by, "and": lambda x: x & by, "mul": lambda x: x * by & MASK}[op]
            return register, lambda e: g(f(e))
        b, h = self.expression(depth - 1, uniform)
        self.emit(f"{ {'add': 'add.u32', 'sub': 'sub.u32', 'xor': 'xor.b32', 'or': 'or.b32'}[op]} {register}, {a}, {b};")
        g = {"add": lambda x, y: x + y & MASK, "sub": lambda x, y: x - y & MASK, "xor": lambda x, y: x ^ y, "or": lambda x, y: x | y}[op]
        return register, lambda e: g(f(e), h(e))

    def own(self):
        """An index that each thread may have to itself: tid, swizzled, behind a multiple of the block, or reversed."""
        kind, out = self.rng.choice(["tid", "xor", "row", "reversed", "wide", "half"]), self.new()
        self.emit(f"mov.u32 {out}, %tid.x;")
        if kind == "tid":
            return out, lambda e: e["tid"]
        b, g = self.expression(1, True)
        register, small = self.new(), self.new()
        if kind == "xor":
            self.emit(f"and.b32 {small}, {b}, 31;\nxor.b32 {register}, {out}, {small};")
            return register, lambda e: e["tid"] ^ (g(e) & 31)
        if kind == "row":
            self.emit(f"and.b32 {small}, {b}, 3;\nmad.lo.u32 {register}, {small}, %ntid.x, {out};")
            return register, lambda e: e["tid"] + (g(e) & 3) * e["ntid"] & MASK
        if kind == "reversed":
            self.emit(f"mov.u32 {small}, %ntid.x;\nsub.u32 {small}, {small}, 1;\nsub.u32 {register}, {small}, {out};")
            return register, lambda e: e["ntid"] - 1 - e["tid"] & MASK
        if kind == "wide":
            self.emit(f"and.b32 {small}, {b}, 3;\nshl.b32 {register}, {out}, 2;\nor.b32 {register}, {register}, {small};")
            return register, lambda e: e["tid"] << 2 | (g(e) & 3)
        self.emit(f"shr.u32 {small}, {out}, 1;\nand.b32 {register}, {out}, 1;\nshl.b32 {register}, {register}, 8;\nadd.u32 {register}, {register}, {small};")
        return register, lambda e: ((e["tid"] & 1) << 8) + (e["tid"] >> 1)

    def condition(self, uniform):
        a, f = self.expression(1, uniform)
        b, g = self.expression(self.rng.randrange(2), True)
        op = self.rng.choice(["lt", "ge", "eq", "ne"])
        self.predicates += 1
        predicate = f"%p{self.predicates}"
        self.emit(f"setp.{op}.u32 {predicate}, {a}, {b};")
        compare = {"lt": lambda x, y: x < y, "ge": lambda x, y: x >= y, "eq": lambda x, y: x == y, "ne": lambda x, y: x != y}[op]
        return predicate, lambda e: compare(f(e), g(e))

    # ------------------------------------------------------------------------------------- statements

    def statements(self, depth, count, together):
        return [self.statement(depth, together) for _ in range(count)]

    def statement(self, depth, together):
        if self.matrices and together and self.rng.random() < 0.6:
            return self.matrix()
        if self.tiles and together and self.rng.random() < 0.7:
            return ("if", lambda e: True, self.tile_stage())
        if self.copies and self.rng.random() < (0.1 if self.tiles else 0.5):
            return self.copying(together)
        kind = self.rng.choice(["access"] * 5 + (["barrier"] * 3 if together or self.odd else []) + (["loop", "loop", "if", "if"] if depth < 2 else []))
        if kind == "access":
            return self.access()
        if kind == "barrier":
            self.emit("bar.sync 0;")
            return ("barrier", len(self.lines))
        if kind == "if":
            uniform = self.rng.random() < 0.5
            predicate, holds = self.condition(uniform)
            self.labels += 1
            label = f"$L{self.labels}"
            self.emit(f"@!{predicate} bra {label};")
            body = self.statements(depth + 1, self.rng.randrange(1, 3), together and uniform)
            self.emit(f"{label}:")
            return ("if", holds, body)
        return self.loop(depth, together)

    def loop(self, depth, together):
        uniform = self.rng.random() < 0.6
        self.labels += 1
        label, counter = self.labels, self.new()
        first = self.rng.choice([0, 1, 4])
        step = self.rng.choice([1, 1, 2, 4, MASK])
        self.emit(f"mov.u32 {counter}, {first};")
        start = len(self.lines)
        self.emit(f"$L{label}:")
        bound, limit = (self.leaf(True) if uniform else self.expression(1))
        low, small = self.new(), self.rng.choice([3, 7])
        self.emit(f"and.b32 {low}, {bound}, {small};")
        self.predicates += 1
        predicate = f"%p{self.predicates}"
        if step == MASK:
            self.emit(f"setp.eq.u32 {predicate}, {counter}, 0;")
            ends = lambda e: e[counter] == 0
        else:
            self.emit(f"setp.ge.u32 {predicate}, {counter}, {low};")
            ends = lambda e: e[counter] >= (limit(e) & small)
        self.emit(f"@{predicate} bra $E{label};")
        self.counters.append(counter)
        body = self.statements(depth + 1, self.rng.randrange(1, 4), together and (uniform or step == MASK))
        self.counters.pop()
        self.emit(f"add.u32 {counter}, {counter}, {step};\nbra $L{label};\n$E{label}:")
        del start
        return ("loop", counter, first, step, ends, body)

    def matrix(self):
        """ldmatrix or stmatrix, a store of a row or of a word of the first matrix of the warp, or a barrier of the warp."""
        rng, register, at = self.rng, self.new(), self.new()
        kind = rng.choice(["ld", "ld", "st", "row", "word", "copy", "warp", "warp"])
        if kind == "warp":
            self.emit("bar.warp.sync -1;")
            return ("warp",)
        which = rng.choice(["own", "own", "first", "any"]) if kind != "word" else "word"
        if which == "any":
            index, f = self.own()
        else:
            index = self.new()
            mask = 7 if which == "first" else 31
            self.emit(f"mov.u32 {index}, %tid.x;\nand.b32 {register}, {index}, {mask};\nshr.u32 {index}, {index}, 5;\nshl.b32 {index}, {index}, {7 if which == 'word' else 5};\nadd.u32 {index}, {index}, {register};")
            f = lambda e: (e["tid"] >> 5 << (7 if which == "word" else 5)) + (e["tid"] & mask)
        scale, size = (2, 4) if which == "word" else (4, 16)
        limit = (BYTES >> scale) - 1
        base = self.new()
        self.emit(f"and.b32 {at}, {index}, {limit};\nshl.b32 {at}, {at}, {scale};\nmov.u32 {base}, memory;\nadd.u32 {base}, {base}, {at};")
        where = lambda e: (f(e) & limit) << scale
        if kind == "word":
            load = rng.random() < 0.5
            self.emit(f"ld.shared.u32 %s, [{base}];" if load else f"st.shared.u32 [{base}], %dtid;")
            return ("access", "ld" if load else "st", where, size)
        if kind == "row":
            self.emit(f"st.shared.v4.u32 [{base}], {{%dtid, %dtid, %dtid, %dtid}};")
            return ("access", "st", where, size)
        if kind == "copy":
            self.emit(f"cp.async.cg.shared.global [{base}], [%rd], 16;\ncp.async.wait_all;")
            return ("if", lambda e: True, [("access", "cp", where, size), ("wait", None, "cp")])
        count, trans = rng.choice([1, 2, 4, 4]), rng.random() < 0.25
        registers = ", ".join(["%s"] * count if kind == "ld" else ["%dtid"] * count)
        name = f"{kind}matrix.sync.aligned.m8n8.x{count}{'.trans' if trans else ''}.shared.b16"
        self.emit(f"{name} {{{registers}}}, [{base}];" if kind == "ld" else f"{name} [{base}], {{{registers}}};")
        return ("matrix", len(self.lines), kind, where, count, trans)

    def copying(self, together):
        """A copy, a commit or a wait, with a guard or without; or a stage of a pipeline."""
        kind = self.rng.choice(["cp", "cp", "commit", "commit", "wait", "wait", "stage", "stage", "stage"])
        if kind == "stage":
            return ("if", lambda e: True, self.stage(together))
        guard, holds = self.condition(self.rng.random() < 0.5) if self.rng.random() < 0.1 else (None, lambda e: True)
        before = f"@{guard} " if guard else ""
        return ("if", holds, [self.access(before) if kind == "cp" else self.commit(before) if kind == "commit" else self.wait(before)])

    def commit(self, before=""):
        self.emit(f"{before}cp.async.commit_group;")
        return ("commit", "cp")

    def wait(self, before="", pending=None):
        pending = self.rng.choice([0, 0, 1, 2, 3, None]) if pending is None else pending
        self.emit(f"{before}cp.async.wait_{'all' if pending is None else f'group {pending}'};")
        return ("wait", pending, "cp")

    def stage(self, together):
        """Into one of some buffers each thread copies a word of its own; a buffer that was copied before is read at another thread's word."""
        stages, ahead = self.rng.choice([1, 2, 2, 4]), self.rng.randrange(4)
        counter = self.rng.choice(self.counters) if self.counters else self.leaf(True)[0]
        name = counter if self.counters else None
        out = []

        def word(by, index, f):
            which, base = self.new(), self.new()
            self.emit(f"add.u32 {which}, {counter if name else 0}, {by};\nand.b32 {which}, {which}, {stages - 1};\nshl.b32 {which}, {which}, 8;\nadd.u32 {which}, {which}, {index};")
            self.emit(f"shl.b32 {which}, {which}, 2;\nmov.u32 {base}, memory;\nadd.u32 {base}, {base}, {which};")
            return base, lambda e: ((((e[name] if name else 0) + by & MASK) & (stages - 1)) << 8) + f(e) << 2 & MASK

        mine, other = self.new(), self.new()
        self.emit(f"mov.u32 {mine}, %tid.x;")
        base, at = word(ahead, mine, lambda e: e["tid"])
        self.emit(f"cp.async.ca.shared.global [{base}], [%rd], 4;")
        out += [("access", "cp", at, 4), self.commit(), self.wait("", self.rng.choice([0, max(stages - 2, 0), ahead, stages - 1]))]
        if together and self.rng.random() < 0.9:
            self.emit("bar.sync 0;")
            out.append(("barrier", len(self.lines)))
        by = self.rng.choice([0, 1, 3])
        self.emit(f"xor.b32 {other}, {mine}, {by};")
        base, at = word(self.rng.choice([0, 0, 0, 1]), other, lambda e: e["tid"] ^ by)
        self.emit(f"ld.shared.u32 %s, [{base}];")
        out.append(("access", "ld", at, 4))
        if together and self.rng.random() < 0.6:
            self.emit("bar.sync 0;")
            out.append(("barrier", len(self.lines)))
        return out

    # ------------------------------------------------------------------------------------- bulk copies

    def phases(self):
        """One or two mbarriers with copies of 16 to 512 bytes into the array, waits of all threads or of some, and accesses between."""
        rng, out = self.rng, []
        careful = lambda: rng.random() < self.careful
        barriers = [7168 + 16 * k for k in range(rng.choice([1, 1, 2]))]

        def at(offset):
            register = self.new()
            self.emit(f"mov.u32 {register}, memory;\nadd.u32 {register}, {register}, {offset};")
            return register

        def by_one(body):
            """Statements of one thread, or now and then of more."""
            chosen = rng.choice([0, 0, 0, 1, 31])
            self.predicates += 1
            self.labels += 1
            predicate, label, low = f"%p{self.predicates}", f"$L{self.labels}", careful() or rng.random() < 0.7
            self.emit(f"setp.{'ne' if low else 'gt'}.u32 {predicate}, %dtid, {chosen};\n@{predicate} bra {label};")
            inside = body()
            self.emit(f"{label}:")
            return ("if", lambda e: e["tid"] == chosen if low else e["tid"] <= chosen, inside)

        def init():
            inside = []
            for b in barriers:
                if rng.random() < 0.98:
                    count = 1 if rng.random() < 0.95 else 2
                    self.emit(f"mbarrier.init.shared::cta.b64 [{at(b)}], {count};")
                    inside.append(("init", b, count))
            return inside

        def issue(b):
            inside, total = [], 0
            for _ in range(rng.choice([1, 1, 2])):
                size, to = rng.choice([16, 64, 256, 512]), rng.choice([0, 0, 256, 512, 1024])
                source = at(to)
                self.emit(f"cp.async.bulk.shared::{rng.choice(['cluster', 'cta'])}.global.mbarrier::complete_tx::bytes [{source}], [%rd], {size}, [{at(b)}];")
                inside.append(("bulk", to, size, b))
                total += size
            expected = total if careful() or rng.random() < 0.7 else rng.choice([total - 16, total + 16])
            self.emit(f"mbarrier.arrive.expect_tx.shared::cta.b64 _, [{at(b)}], {expected};")
            inside.append(("arrive", b, expected))
            return inside

        def wait(b):
            self.predicates += 1
            self.labels += 1
            predicate, label = f"%p{self.predicates}", f"$L{self.labels}"
            parity = 0 if rng.random() < 0.95 else 1
            where = at(b)
            self.emit(f"{label}:\nmbarrier.{rng.choice(['try_wait', 'test_wait'])}.parity.shared::cta.b64 {predicate}, [{where}], {parity};\n@!{predicate} bra {label};")
            return ("phase", b, parity)

        def barrier():
            self.emit("bar.sync 0;")
            out.append(("barrier", len(self.lines)))

        def fence():
            self.emit("fence.proxy.async.shared::cta;")
            out.append(("fence",))

        if rng.random() < 0.3:
            out.append(self.access())
            if careful():
                fence()
        out.append(by_one(init))
        if careful():
            barrier()
        left = list(barriers)
        for b in barriers:
            out.append(by_one(lambda: issue(b)))
            if rng.random() < 0.3:
                out.append(self.access())
            if rng.random() < 0.2:
                barrier()
            if rng.random() < 0.6:
                left.remove(b)
                out.append(wait(b))
                out += [self.access() for _ in range(rng.randrange(3))]
                if rng.random() < 0.7:
                    barrier()
        for b in left:
            if careful():
                out.append(by_one(lambda: [wait(b)]) if rng.random() < 0.15 else wait(b))
        if rng.random() < 0.5:
            barrier()
        return out + [self.access() for _ in range(rng.randrange(1, 3))]

    # ------------------------------------------------------------------------------------- wgmma

    def tile_stage(self):
        """Threads fill a part of a buffer by stores or copies, and wgmma reads one: with what is needed between, or a part of it."""
        stages, ahead, out = self.rng.choice([1, 2, 2]), self.rng.choice([0, 0, 1]), []
        name = self.rng.choice(self.counters) if self.counters and self.rng.random() < 0.8 else None
        careful = lambda: self.rng.random() < self.careful

        def buffer(by):
            which = self.new()
            self.emit(f"add.u32 {which}, {name or 0}, {by};\nand.b32 {which}, {which}, {stages - 1};\nshl.b32 {which}, {which}, 12;")
            return which, lambda e: ((e[name] if name else 0) + by & MASK & stages - 1) << 12

        def barrier():
            if careful():
                self.emit("bar.sync 0;")
                out.append(("barrier", len(self.lines)))

        def fence():
            if careful():
                self.emit(self.rng.choice(["fence.proxy.async;", "fence.proxy.async.shared::cta;"]))
                out.append(("fence",))

        kind, early = self.rng.choice(["st", "st", "cp", "none"]), self.rng.random() < 0.5
        barrier()
        if kind != "none":
            base, at = buffer(ahead)
            mine, scale, offset = self.new(), self.rng.choice([2, 4]), self.rng.choice([0, 0, 512, 2048])
            self.emit(f"mov.u32 {mine}, %tid.x;\nshl.b32 {mine}, {mine}, {scale};\nadd.u32 {mine}, {mine}, {base};\nadd.u32 {mine}, {mine}, {offset};\nadd.u32 {mine}, {mine}, memory;")
            where = lambda e: at(e) + (e["tid"] << scale) + offset & MASK
            if kind == "st":
                self.emit(f"st.shared.u32 [{mine}], %ddata;")
                out.append(("access", "st", where, 4))
            else:
                self.emit(f"cp.async.ca.shared.global [{mine}], [%rd], {1 << scale};")
                out += [("access", "cp", where, 1 << scale), self.commit()]
                if careful():
                    out.append(self.wait("", self.rng.choice([0, 0, 0, 1])))
        if early:
            fence()
        barrier()
        if not early:
            fence()
        for _ in range(self.rng.choice([1, 1, 2])):
            out += self.wgmma(buffer(0))
        if careful():
            self.emit("wgmma.commit_group.sync.aligned;")
            out.append(("commit", "mma"))
        if careful():
            pending = self.rng.choice([0, 0, 1, 1, 2])
            self.emit(f"wgmma.wait_group.sync.aligned {pending};")
            out.append(("wait", pending, "mma"))
        barrier()
        return out

    def descriptor(self, buffer, rows, major_mn, quarters):
        """A register with a descriptor into a buffer, and the 16-byte units that a thread's warp reads."""
        base, at = buffer
        mode = self.rng.choice([0, 0, 1, 2, 3])
        row = {0: 16, 1: 128, 2: 64, 3: 32}[mode]
        start = self.rng.choice([0, 0, 0, 1024, 2048]) + (self.rng.choice([0, 32, 64, 96]) if mode == 1 and not major_mn else 0)
        stride = self.rng.choice([8 * row, 8 * row, 256, 1024]) if mode else self.rng.choice([256, 256, 128, 512])
        leading = self.rng.choice([128, 128, 1024])
        address, low, d = self.new(), self.new(), f"%k{self.descriptors}"
        self.descriptors += 1
        fields = mode << 62 | stride >> 4 << 32 | leading >> 4 << 16
        self.emit(f"mov.u32 {address}, memory;\nadd.u32 {address}, {address}, {base};\nadd.u32 {address}, {address}, {start};\nshr.u32 {low}, {address}, 4;\nand.b32 {low}, {low}, 16383;\n"
                  f"cvt.u64.u32 {d}, {low};\nor.b64 {d}, {d}, {fields};")

        @functools.lru_cache(None)
        def units(at, quarter):
            out = set()
            for mn in range(rows):
                if quarter is not None and mn // 16 != quarter:
                    continue
                for k in range(16):
                    if not major_mn:
                        offset = mn % 8 * row + mn // 8 * stride + k % 8 * 2 + k // 8 * (16 if mode else leading)
                    elif mode:
                        offset = mn % 8 * 2 + mn // 8 % (row // 16) * 16 + mn // (row // 2) * leading + k % 8 * row + k // 8 * stride
                    else:
                        offset = mn % 8 * 2 + mn // 8 * stride + k % 8 * 16 + k // 8 * leading
                    byte = BASE + at + start + offset
                    out.add(((byte ^ (byte >> 7 & (row // 16 - 1)) << 4) - BASE) // 16)
            return frozenset(out)

        return d, lambda e: units(at(e), e["tid"] // 32 % 4 if quarters else None)

    def wgmma(self, buffer):
        registers, columns = self.rng.random() < 0.6, self.rng.choice([8, 8, 16, 32])
        majors = [self.rng.randrange(2) if self.rng.random() < 0.3 else 0 for _ in range(1 if registers else 2)]
        reads = []
        if not registers:
            a, units = self.descriptor(buffer, 64, majors[0], True)
            reads.append(("access", "mma", units, 0))
        b, units = self.descriptor(buffer, columns, majors[-1], False)
        reads.append(("access", "mma", units, 0))
        result = ", ".join(["%s"] * (columns // 2))
        self.emit(f"wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n{columns}k16.f32.f16.f16 {{{result}}}, { '{%s, %s, %s, %s}' if registers else a}, {b}, 1, 1, 1, "
                  f"{', '.join(str(m) for m in majors)};")
        return reads

    def access(self, copy=None):
        address, f = self.own() if self.rng.random() < self.tidy else self.expression(self.rng.randrange(1, 4))
        size, scale = (4, 2) if self.rng.random() < self.tidy else (self.rng.choice([1, 4, 4, 8] if copy is None else [4, 8, 16]), self.rng.choice([0, 2, 2, 3]))
        masked, register = self.new(), self.new()
        limit = (2048 if self.bulk else BYTES) - 1 >> scale
        loose = not self.bulk and self.rng.random() < 0.3  # may leave the array
        if loose:
            self.emit(f"mov.u32 {masked}, {address};")
        else:
            self.emit(f"and.b32 {masked}, {address}, {limit};")
        self.emit(f"shl.b32 {register}, {masked}, {scale};\nand.b32 {register}, {register}, {MASK & ~(size - 1)};")
        base = self.new()
        self.emit(f"mov.u32 {base}, memory;\nadd.u32 {base}, {base}, {register};")
        kind = "cp" if copy is not None else self.rng.choice(["st", "st", "st", "ld", "ld", "red"])
        if kind == "red" and size != 4:
            kind = "st"
        word = {1: "u8", 4: "u32", 8: "u64", 16: "none"}[size]
        value = self.rng.choice(["data", "tid"])
        if kind == "cp":
            form = self.rng.choice(["cg.shared", "cg.shared::cta" if size == 16 else "ca.shared"]) if size == 16 else "ca.shared"
            self.emit(f"{copy}cp.async.{form}.global [{base}], [%rd], {size}{self.rng.choice(['', '', ', 0', ', %s'])};")
        elif kind == "st":
            stored = f"%d{'w' if size == 8 else ''}{value}"
            self.emit(f"st.shared.{word} [{base}], {stored};")
        elif kind == "ld":
            self.emit(f"ld.shared.{word} %{'sw' if size == 8 else 's'}, [{base}];")
        else:
            self.emit(f"red.shared.add.u32 [{base}], 1;")
        at = lambda e: ((f(e) if loose else f(e) & limit) << scale & MASK) & ~(size - 1)
        return ("access", kind, at, size)

    def ptx(self):
        shape = f".reqntid {self.block}, 1, 1\n" if self.block else ""
        body = "\n".join(self.lines)
        return (f".visible .entry {self.name}(.param .u32 n, .param .u64 p)\n{shape}{{\n.reg .pred %p<{self.predicates + 1}>;\n.reg .b32 %r<{self.registers + 1}>, %s, %ddata, %dtid;\n"
                f".reg .b64 %sw, %dwdata, %dwtid, %rd, %re, %k<{self.descriptors + 1}>;\n.shared .align 1024 .b8 memory[{BYTES}];\nld.param.u64 %rd, [p];\nld.global.u32 %ddata, [%rd];\nld.global.u64 %dwdata, [%rd+8];\n"
                f"mov.u32 %dtid, %tid.x;\ncvt.u64.u32 %dwtid, %dtid;\n{body}\nret;\n}}\n")
