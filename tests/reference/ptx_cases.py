"""Draws small PTX kernels: random integer expressions over threads, parameters and loop counters, as addresses of shared memory."""
BLOCKS = [(32, 1, 1), (64, 1, 1), (128, 1, 1), (256, 1, 1), (40, 1, 1), (1, 1, 1), (7, 1, 1), (33, 1, 1), (100, 1, 1), (16, 16, 1),
          (8, 4, 1), (32, 8, 1), (5, 7, 1), (4, 4, 4), (3, 5, 2), (2, 16, 2), (1, 64, 1), (1, 1, 48)]
TESTS = ["lt", "le", "gt", "ge", "eq", "ne"]


class Kernel:
    """One kernel under construction; `odd` counts what is in it."""

    def __init__(self, rng, name, data=0.12, functions=()):
        self.rng, self.name, self.lines, self.odd, self.data = rng, name, [], set(), data
        self.words, self.predicates, self.doubles, self.labels = 0, 0, 0, 0
        self.pool, self.uniform, self.counters = [], [], []
        self.depth = 0
        self.functions = list(functions)  # that it may call
        self.exits = False  # a thread may end in it

    def pick(self, items):
        return items[int(self.rng.integers(0, len(items)))]

    def chance(self, p):
        return self.rng.random() < p

    def number(self, low, high):
        return int(self.rng.integers(low, high))

    def emit(self, line):
        self.lines.append("\t" + line)

    def word(self):
        self.words += 1
        return f"%r{self.words}"

    def predicate(self):
        self.predicates += 1
        return f"%p{self.predicates}"

    def double(self):
        self.doubles += 1
        return f"%rd{self.doubles}"

    def label(self):
        self.labels += 1
        return f"$L_{self.name}_{self.labels}"

    # -- expressions

    def constant(self):
        kind = self.number(0, 8)
        if kind < 3:
            return self.number(0, 9)
        if kind < 5:
            return 1 << self.number(0, 12)
        if kind < 6:
            return (1 << self.number(1, 12)) - 1
        if kind < 7:
            return -self.number(1, 40)
        return self.pick([3, 5, 12, 24, 33, 36, 48, 68, 96, 100, 132, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF0])

    def operand(self):
        if self.chance(0.3):
            return str(self.constant())
        return self.pick(self.pool[-6:]) if self.chance(0.6) else self.pick(self.pool)

    def step(self):
        """One instruction whose result joins the pool."""
        r = self.word()
        a, b, c = self.pick(self.pool), self.operand(), self.operand()
        k = self.number(0, 100)
        if k < 16:
            self.emit(f"add.s32 {r}, {a}, {b};")
        elif k < 20:
            self.emit(f"sub.s32 {r}, {a}, {b};")
        elif k < 32:
            self.emit(f"shl.b32 {r}, {a}, {self.number(0, 8)};")
        elif k < 40:
            self.emit(f"shr.{self.pick(['u32', 's32', 'u32'])} {r}, {a}, {self.number(0, 8)};")
        elif k < 50:
            self.emit(f"and.b32 {r}, {a}, {self.pick([1, 3, 7, 15, 31, 63, 127, 255, 12, 24, 28, 48, 112, -16, -4])};")
        elif k < 57:
            self.emit(f"xor.b32 {r}, {a}, {b};")
        elif k < 61:
            self.emit(f"or.b32 {r}, {a}, {b};")
        elif k < 67:
            self.emit(f"mul.lo.s32 {r}, {a}, {self.constant()};")
        elif k < 70:
            self.emit(f"mad.lo.s32 {r}, {a}, {self.constant()}, {c};")
        elif k < 72:
            self.emit(f"{self.pick(['min', 'max'])}.{self.pick(['u32', 's32'])} {r}, {a}, {b};")
        elif k < 74:
            self.emit(f"{self.pick(['div', 'rem'])}.{self.pick(['u32', 's32'])} {r}, {a}, {self.pick([1, 2, 3, 4, 5, 7, 8, 12, 16, 32, 33])};")
        elif k < 76:
            p = self.condition()
            self.emit(f"selp.b32 {r}, {a}, {b}, {p};")
        elif k < 80:
            self.odd_source(r, a, b)
        else:
            self.rare(r, a, b, c, k)
        self.pool.append(r)
        return r

    def odd_source(self, r, a, b):
        """A rarely used value that comes neither from data nor from known values; or a division by a value that may be 0."""
        p, q, x = self.predicate(), self.condition(), self.word()
        reduction = self.pick(["add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32"])
        text = self.pick([
            f"activemask.b32 {x};", f"elect.sync {x}|{p}, -1;\n\t@!{p} mov.u32 {x}, {b};", f"match.any.sync.b32 {x}, {a}, -1;",
            f"vote.sync.ballot.b32 {x}, {q}, -1;", f"vote.sync.{self.pick(['any', 'all', 'uni'])}.pred {p}, {q}, -1;\n\tselp.b32 {x}, {a}, {b}, {p};",
            f"redux.sync.{reduction} {x}, {a}, -1;", f"mov.u32 {x}, {self.pick(['%clock', '%warpid', '%smid', '%laneid', '%nctaid.x'])};",
            f"div.{self.pick(['u32', 's32'])} {x}, {a}, {b};", f"rem.{self.pick(['u32', 's32'])} {x}, {a}, {b};",
            f"rem.u32 {x}, {a}, {self.pick([0, 1, 3])};", f"mul.lo.u32 {x}, {a}, WARP_SZ;"])
        self.odd.add(text.split()[0].split(".")[0] + (" of a register" if text[:3] in ("div", "rem") else ""))
        self.emit(text)
        form = self.number(0, 4)
        if form == 0:
            self.emit(f"mov.u32 {r}, {x};")
        elif form == 1:
            self.emit(f"and.b32 {r}, {x}, {self.pick([1, 3, 7, 15, 31])};")
        elif form == 2:
            self.emit(f"and.b32 {r}, {x}, {self.pick([1, 3, 7, 15])};\n\tmul.lo.u32 {r}, {r}, {a};")
        else:
            self.emit(f"mul.lo.u32 {r}, {x}, %t;")

    def rare(self, r, a, b, c, k):
        d, e = self.double(), self.double()
        p = self.predicate()
        choices = [
            f"bfe.{self.pick(['u32', 's32'])} {r}, {a}, {self.number(0, 34)}, {self.number(0, 34)};",
            f"bfi.b32 {r}, {a}, {b}, {self.number(0, 34)}, {self.number(0, 34)};",
            f"prmt.b32 {r}, {a}, {b}, {self.number(0, 65536)};",
            f"lop3.b32 {r}, {a}, {b}, {c}, {self.number(0, 256)};",
            f"shf.{self.pick('lr')}.{self.pick(['wrap', 'clamp'])}.b32 {r}, {a}, {b}, {self.number(0, 40)};",
            f"mul.hi.{self.pick(['u32', 's32'])} {r}, {a}, {self.pick([0x10000, 0x24924925, 0x55555556, 7, -3, 0x80000000])};",
            f"mul.wide.{self.pick(['u32', 's32'])} {d}, {a}, {self.constant()};\n\tcvt.u32.u64 {r}, {d};",
            f"cvt.{self.pick(['u64.u32', 's64.s32'])} {d}, {a};\n\tshl.b64 {e}, {d}, {self.number(0, 5)};\n\tcvt.u32.u64 {r}, {e};",
            f"cvt.{self.pick(['u64.u32', 's64.s32'])} {d}, {a};\n\tshr.{self.pick(['u64', 's64'])} {e}, {d}, {self.number(0, 40)};\n\tcvt.u32.u64 {r}, {e};",
            f"mad.wide.{self.pick(['u32', 's32'])} {d}, {a}, {self.number(0, 64)}, {self.number(0, 4096)};\n\tcvt.u32.u64 {r}, {d};",
            f"cvt.{self.pick(['u8', 's8', 'u16', 's16'])}.u32 %h1, {a};\n\tcvt.{self.pick(['u32.u16', 's32.s16', 'u32.u8', 's32.s8'])} {r}, %h1;",
            f"cvt.u16.u32 %h1, {a};\n\tmul.lo.s16 %h2, %h1, {self.number(0, 300)};\n\tshr.{self.pick(['u16', 's16'])} %h3, %h2, {self.number(0, 5)};\n\tmul.wide.u16 {r}, %h3, {self.number(0, 9)};",
            f"sad.{self.pick(['u32', 's32'])} {r}, {a}, {b}, {c};",
            f"neg.s32 {r}, {a};", f"not.b32 {r}, {a};", f"abs.s32 {r}, {a};", f"popc.b32 {r}, {a};", f"clz.b32 {r}, {a};",
            f"brev.b32 {r}, {a};", f"cnot.b32 {r}, {a};", f"bfind.u32 {r}, {a};",
            f"slct.b32.s32 {r}, {a}, {b}, {c};",
            f"mad24.lo.u32 {r}, {a}, {self.number(0, 100)}, {c};",
            f"mul24.lo.s32 {r}, {a}, {self.number(0, 100)};",
            f"shl.b32 {r}, {a}, {b};", f"shr.u32 {r}, {a}, {b};", f"mul.lo.s32 {r}, {a}, {b};",
            f"set.{self.pick(TESTS)}.u32.s32 {r}, {a}, {b};",
            f"shfl.sync.{self.pick(['bfly', 'up', 'down', 'idx'])}.b32 {r}, {a}, {self.number(0, 32)}, 31, -1;",
            f"shfl.sync.{self.pick(['bfly', 'up', 'down', 'idx'])}.b32 {r}|{p}, {a}, {self.number(0, 32)}, {self.pick([31, 0, 15, 0x181F, 0x1C03, 0x1000])}, -1;\n\tselp.b32 {r}, {r}, {b}, {p};",
            f"mov.b32 {{%h4, %h5}}, {a};\n\tmov.b32 {r}, {{%h5, %h4}};",
            f"add.cc.u32 {r}, {a}, {b};\n\taddc.u32 {r}, {r}, {c};",
            f"min.u32 {r}, {a}, {self.number(0, 64)};", f"max.s32 {r}, {a}, {self.number(-4, 20)};",
        ]
        text = self.pick(choices)
        self.odd.add(text.split()[0].split(".")[0])
        self.emit(text)

    def condition(self):
        p = self.predicate()
        kind = self.pick(["s32", "u32"])
        a = self.pick(self.pool)
        b = self.operand() if self.chance(0.4) else str(self.pick([0, 1, 3, 8, 16, 20, 31, 32, 64]))
        test = self.pick(TESTS)
        if self.chance(0.15):
            q = self.predicate()
            self.emit(f"setp.{test}.{kind} {q}, {a}, {b};")
            self.emit(f"setp.{self.pick(TESTS)}.{self.pick(['and', 'or', 'xor'])}.{kind} {p}, {self.pick(self.pool)}, {self.operand()}, {q};")
            self.odd.add("combined predicates")
        else:
            self.emit(f"setp.{test}.{kind} {p}, {a}, {b};")
        return p

    # -- accesses

    def access(self):
        if self.chance(self.data):
            self.load_data()
        for _ in range(self.number(0, 3)):
            self.step()
        kinds = [("ld", 4), ("ld", 4), ("ld", 1), ("ld", 2), ("ld", 8), ("ld", 16), ("st", 4), ("st", 1), ("st", 2), ("st", 8), ("st", 16),
                 ("ldmatrix", 16), ("stmatrix", 16), ("cp", 4), ("cp", 8), ("cp", 16)]
        kind, size = self.pick(kinds if self.whole and self.depth == 0 else [k for k in kinds if "matrix" not in k[0]])  # .aligned
        shift = size.bit_length() - 1
        e = self.pick(self.pool[-4:])
        form = self.number(0, 12)
        if self.counters and self.chance(0.3):
            e, form = self.pick(self.counters), 8
            self.odd.add("counter as an index")
        low = self.word()
        if form < 6:  # (e mod 2^k) * size
            m = self.word()
            self.emit(f"and.b32 {m}, {e}, {(1 << self.number(2, 10)) - 1};")
            self.emit(f"shl.b32 {low}, {m}, {shift};")
        elif form < 8:  # bytes, cleared to the size
            self.emit(f"and.b32 {low}, {e}, {(0x1FFF >> shift) << shift};")
        elif form < 9:  # wraps as it likes
            self.odd.add("wraps")
            self.emit(f"shl.b32 {low}, {e}, {shift};")
        elif form < 10:  # rows of a pitch that divides nothing
            self.odd.add("pitch")
            m = self.word()
            self.emit(f"and.b32 {m}, {e}, 31;")
            self.emit(f"mul.lo.s32 {low}, {m}, {size * self.number(1, 40)};")
        elif form < 11:
            self.odd.add("maybe misaligned")
            self.emit(f"and.b32 {low}, {e}, 8191;")
        else:
            self.odd.add("XOR swizzle")
            m, n, o = self.word(), self.word(), self.word()
            self.emit(f"and.b32 {m}, {e}, 8191;")
            self.emit(f"shl.b32 {m}, {m}, {shift};")
            self.emit(f"shr.u32 {n}, {m}, {self.number(2, 6)};")
            self.emit(f"and.b32 {o}, {n}, {self.pick([112, 48, 16, 28, 124])};")
            self.emit(f"xor.b32 {low}, {m}, {o};")
        address = self.word()
        if self.chance(0.1):  # swizzle of the absolute address
            self.odd.add("XOR with the base")
            x, y = self.word(), self.word()
            self.emit(f"add.s32 {x}, %base, {low};")
            self.emit(f"shr.u32 {y}, {x}, 3;")
            self.emit(f"and.b32 {y}, {y}, 112;")
            self.emit(f"xor.b32 {address}, {x}, {y};")
        else:
            self.emit(f"add.s32 {address}, {low}, %base;")
        plus = size * self.number(-4, 40) if self.chance(0.3) else 0
        guard = ""
        if self.chance(0.2):
            guard = f"@{self.pick(['', '!'])}{self.condition()} "
            self.odd.add("predicate")
        self.spell(kind, size, address, plus, guard)

    def spell(self, kind, size, address, plus, guard):
        space = "shared"
        if self.chance(0.12) and kind in ("ld", "st"):
            d = self.double()
            if self.chance(0.5):
                self.emit(f"cvt.u64.u32 {d}, {address};")
                g = self.double()
                self.emit(f"cvta.shared.u64 {g}, {d};")
                space, address = "", g
                self.odd.add("generic")
            else:
                self.emit(f"cvt.u64.u32 {d}, {address};")
                address = d
        place = f"[{address}+{plus}]" if plus else f"[{address}]"
        mid = f".{space}" if space else ""
        if kind == "ldmatrix":
            n = self.pick([1, 2, 4])
            regs = [self.word() for _ in range(n)]
            self.emit(f"ldmatrix.sync.aligned.m8n8.x{n}{self.pick(['', '.trans'])}.shared.b16 {{{', '.join(regs)}}}, {place};")
            return
        if kind == "stmatrix":
            n = self.pick([1, 2, 4])
            regs = [self.pick(self.pool) for _ in range(n)]
            self.emit(f"stmatrix.sync.aligned.m8n8.x{n}{self.pick(['', '.trans'])}.shared.b16 {place}, {{{', '.join(regs)}}};")
            return
        if kind == "cp":
            cache = "cg" if size == 16 and self.chance(0.5) else "ca"
            self.emit(f"{guard}cp.async.{cache}.shared.global {place}, [%global], {size};")
            return
        forms = {1: [("u8", 1), ("s8", 1)], 2: [("u16", 1), ("b16", 1), ("u8", 2)], 4: [("u32", 1), ("f32", 1), ("u16", 2), ("b8", 4)],
                 8: [("u64", 1), ("u32", 2), ("f32", 2), ("f64", 1), ("u16", 4)], 16: [("u32", 4), ("f32", 4), ("u64", 2), ("f64", 2)]}
        kind_name, count = self.pick(forms[size])
        width = int(kind_name[1:])
        if kind_name.startswith("f"):
            names = [f"%f{i + 1}" if width == 32 else f"%fd{i + 1}" for i in range(count)]
        elif width == 64:
            names = [self.double() for _ in range(count)] if kind == "ld" else ["%global"] * count
        elif width == 32:
            names = [self.word() for _ in range(count)] if kind == "ld" else [self.pick(self.pool) for _ in range(count)]
        else:
            names = [f"%h{i + 1}" for i in range(count)]
        vector = f".v{count}" if count > 1 else ""
        operand = f"{{{', '.join(names)}}}" if count > 1 else names[0]
        volatile = ".volatile" if self.chance(0.05) else ""
        if kind == "ld":
            self.emit(f"{guard}ld{volatile}{mid}{vector}.{kind_name} {operand}, {place};")
            if width == 32 and not kind_name.startswith("f") and self.chance(0.1) and not guard:
                self.pool.append(names[0])
                self.odd.add("data of shared memory")
        else:
            self.emit(f"{guard}st{volatile}{mid}{vector}.{kind_name} {place}, {operand};")

    def load_data(self):
        """A value of global memory: the same for all lanes, or not."""
        r = self.word()
        if self.chance(0.5):
            self.emit(f"ld.global.u32 {r}, [%global+{4 * self.number(0, 64)}];")
            self.odd.add("uniform load")
        else:
            d, e = self.double(), self.double()
            self.emit(f"mul.wide.u32 {d}, {self.pick(self.pool)}, 4;")
            self.emit(f"add.s64 {e}, {d}, %global;")
            self.emit(f"ld.global.u32 {r}, [{e}];")
            self.odd.add("data")
        self.pool.append(r)

    # -- statements

    def body(self, statements):
        for _ in range(statements):
            if self.functions and self.chance(0.25):
                self.outside() if self.chance(0.06) else self.call(self.pick(self.functions))
                continue
            k = self.number(0, 20)
            if k < 9:
                self.access()
            elif k < 12:
                self.step()
            elif k < 15 and self.depth < 3:
                self.branches_by_index() if self.chance(0.15) else self.branch()
            elif k < 19 and self.depth < 2:
                self.loop()
            elif k == 19 and self.chance(0.15):
                self.whole = False
                end = self.pick(["ret", "exit"])
                self.exits |= end == "exit"
                self.before_return()
                self.emit(f"@{self.condition()} {end};")
                self.odd.add("early exit")
            else:
                self.access()

    def before_return(self):
        pass

    def outside(self):
        """A call of a function without a body: what it returns is anything."""
        r, name = self.word(), self.pick(["vprintf", "elsewhere"])
        self.emit(f"{{\n\t.param .b32 param0;\n\tst.param.b32 [param0+0], {self.operand()};\n\t.param .b32 retval0;")
        self.emit(f"call.uni (retval0), {name}, (param0);\n\tld.param.b32 {r}, [retval0+0];\n\t}}")
        self.pool.append(r)
        self.odd.add(f"call of {name}")

    def call(self, f, guard="", second=None):
        """A call of a device function: its parameters in registers, in .param variables, or in one array of bytes."""
        if f.aligned and not (self.whole and self.depth == 0):
            return self.access()
        if not guard and self.chance(0.25) and not f.aligned:
            guard = f"@{self.pick(['', '!'])}{self.condition()} "
            self.odd.add("predicated call")
        self.odd.add(f"call {f.form} of {f.returns}")
        self.exits |= f.exits
        self.whole &= not f.exits
        plain = not guard and not f.exits and not self.depth
        word = [self.operand(), second or self.pick(self.uniform), self.pick(self.uniform) if self.chance(0.5) else str(self.constant())]
        given = [self.constant_in_register(x) if f.form != "reg" and self.chance(0.5) else x for x in word] + ["%base", "%global", "%own"]
        sizes = ["b32", "b32", "b32", "b32", "b64", "b64"]
        r, merged = self.word(), self.word()
        self.emit(f"mov.u32 {merged}, {self.operand()};")
        name = f"call{'.uni' if plain and self.chance(0.8) else ''}"
        if f.form == "reg":
            self.emit(f"mov.u32 {r}, {merged};")
            self.emit(f"{guard}{name} ({r}), {f.name}, ({', '.join(given)});")
        else:
            self.emit("{")
            arguments = []
            if f.form == "array":
                self.emit(".param .align 8 .b8 param0[32];")
                self.emit(f"st.param.v4.b32 [param0], {{{', '.join(given[:4])}}};" if self.chance(0.5) else
                          "\n\t".join(f"st.param.b32 [param0+{4 * i}], {g};" for i, g in enumerate(given[:4])))
                self.emit("st.param.b64 [param0+16], %global;\n\tst.param.b64 [param0+24], %own;")
                arguments = ["param0"]
            else:
                for i, (g, size) in enumerate(zip(given, sizes)):
                    if self.chance(0.15):
                        arguments.append(g)
                        continue
                    self.emit(f".param .{size} param{i};")
                    self.emit(f"st.param.{size} [param{i}+0], {g};")
                    arguments.append(f"param{i}")
            self.emit(f".param .{'align 8 .b8 retval0[16]' if f.returns == 'pair' else 'b32 retval0'};")
            self.emit(f"{guard}{name} (retval0), {f.name}, ({', '.join(arguments)});")
            if f.returns == "pair":
                other = self.word()
                self.emit(f"ld.param.v2.b32 {{{r}, {other}}}, [retval0+4];" if self.chance(0.5) else
                          f"ld.param.b32 {r}, [retval0+4];\n\tld.param.b32 {other}, [retval0+8];")
                if not guard:
                    self.pool.append(other)
            else:
                self.emit(f"ld.param.b32 {r}, [retval0+0];")
            self.emit("}")
        if guard and f.form != "reg":
            self.emit(f"selp.b32 {merged}, {r}, {merged}, {guard[1:].lstrip('!')};" if "!" not in guard else
                      f"selp.b32 {merged}, {merged}, {r}, {guard[2:]};")
        else:
            self.emit(f"mov.u32 {merged}, {r};")
        if f.returns == "address":  # lanes that did not call it have none
            at = f"[{merged}+{4 * self.number(0, 9)}]"
            self.emit(guard + self.pick([f"ld.shared.u32 {self.word()}, {at};", f"st.shared.u32 {at}, %t;"]))
        self.pool.append(merged)

    def constant_in_register(self, text):
        r = self.word()
        self.emit(f"mov.u32 {r}, {text};")
        return r

    def branch(self):
        p, end = self.condition(), self.label()
        self.odd.add("branch")
        before = len(self.pool)
        self.depth += 1
        merged = self.word() if self.chance(0.5) else None
        if merged:
            self.emit(f"mov.u32 {merged}, {self.operand()};")
        self.emit(f"@{self.pick(['', '!'])}{p} bra {end};")
        self.body(self.number(1, 3))
        if merged:
            self.emit(f"mov.u32 {merged}, {self.operand()};")
        if self.chance(0.4):
            other = self.label()
            self.emit(f"bra.uni {other};")
            self.lines.append(end + ":")
            del self.pool[before:]
            self.body(self.number(1, 3))
            if merged:
                self.emit(f"add.s32 {merged}, {merged}, {self.operand()};")
            end = other
        self.lines.append(end + ":")
        del self.pool[before:]
        if merged:
            self.pool.append(merged)
        self.depth -= 1

    def branches_by_index(self):
        """brx.idx: its index is a parameter's, a counter's or differs in lanes, and is now and then behind the list, as compilers guard it."""
        self.odd.add("brx")
        before, ways = len(self.pool), self.number(1, 5)
        index, over, end, table = self.word(), self.predicate(), self.label(), self.label()
        labels = [self.label() for _ in range(ways)]
        self.depth += 1
        merged = self.word()
        self.emit(f"mov.u32 {merged}, {self.operand()};")
        self.emit(f"and.b32 {index}, {self.pick(self.uniform if self.chance(0.5) else self.pool)}, {self.pick([1, 3, 3, 7])};")
        self.emit(f"setp.ge.u32 {over}, {index}, {ways};")
        guarded = self.chance(0.3)
        if not guarded:
            self.emit(f"@{over} bra {end};")
        self.emit(f"{table}: .branchtargets {', '.join(labels)};")
        self.emit(f"{'@!' + over + ' ' if guarded else ''}brx.idx{self.pick(['', '.uni']) if self.whole and ways == 1 else ''} {index}, {table};")
        if guarded:
            self.emit(f"bra.uni {end};")
        for k, label in enumerate(labels):
            self.lines.append(label + ":")
            self.body(self.number(1, 3))
            self.emit(f"add.s32 {merged}, {merged}, {self.operand()};")
            if self.chance(0.7):
                self.emit(f"bra.uni {end};")
            del self.pool[before:]
        self.lines.append(end + ":")
        self.pool.append(merged)
        self.depth -= 1

    def bound(self):
        k = self.number(0, 10)
        if k < 5:
            return str(self.pick([0, 1, 2, 3, 4, 7, 8, 16, 20, 32, 64]))
        if k < 7:
            return self.pick(self.uniform)
        if k < 8:
            return "%t"
        r = self.word()
        if k < 9:
            self.emit(f"min.{self.pick(['s32', 'u32'])} {r}, {self.pick(self.uniform)}, {self.pick([4, 16, 40])};")
        else:
            self.emit(f"and.b32 {r}, {self.pick(self.pool)}, 15;")
        return r

    def loop(self):
        self.depth += 1
        i, p = self.word(), self.predicate()
        top, end = self.label(), self.label()
        before = len(self.pool)
        form = self.pick(["up", "up", "up", "down", "right", "left", "ne", "break", "carried"])
        self.odd.add(f"loop {form}" + (" nested" if self.depth > 1 else ""))
        bound = self.bound()
        step = self.pick([1, 1, 1, 2, 3, 4, 8, 32])
        if form == "ne" and self.chance(0.95):  # else it need not end
            bound, step = str(self.pick([1, 2, 5, 16])), 1
        kind = self.pick(["s32", "u32", "s32"])
        stages = []
        for _ in range(self.number(0, 3)):
            stages.append((self.word(), self.number(0, 5), self.pick(["1024", "4096", "16", "1", "3"])))
            self.emit(f"mov.u32 {stages[-1][0]}, {self.pick(['0', '0', '16', '1', '%t', self.pick(self.uniform)])};")
        carried = self.predicate()
        if form == "carried":  # a predicate of the iteration before
            self.emit(f"setp.{self.pick(TESTS)}.u32 {carried}, {self.pick(['%t', self.pick(self.uniform)])}, {self.number(0, 20)};")
        start = self.pick(["0", "0", "0", "1", "%t", "5", self.pick(self.uniform)]) if form != "ne" or step > 1 else "0"
        self.emit(f"mov.u32 {i}, {dict(down=bound, right=self.pick(['512', '128', '16', '1', '0']), left='1').get(form, start)};")
        head = self.chance(0.4) and form != "carried"
        self.lines.append(top + ":")
        exit_test = {"up": f"setp.{self.pick(['ge', 'gt'])}.{kind} {p}, {i}, {bound};", "break": f"setp.{self.pick(['ge', 'gt'])}.{kind} {p}, {i}, {bound};",
                     "down": f"setp.{self.pick(['le', 'lt'])}.s32 {p}, {i}, {self.pick(['0', '1', '-3'])};", "right": f"setp.eq.s32 {p}, {i}, 0;",
                     "left": f"setp.gt.u32 {p}, {i}, {self.pick([8, 63, 512])};", "ne": f"setp.eq.s32 {p}, {i}, {bound};",
                     "carried": f"not.pred {p}, {carried};"}[form]
        if head:
            self.emit(exit_test)
            self.emit(f"@{p} bra {end};")
        self.pool.append(i)
        self.counters.append(i)
        self.pool += [s[0] for s in stages]
        self.body(self.number(1, 3))
        self.counters.pop()
        if form == "break":
            self.emit(f"@{self.condition()} bra {end};")
        for r, how, by in stages:
            if how == 0:
                self.emit(f"xor.b32 {r}, {r}, {by};")
            elif how == 1:
                self.emit(f"sub.s32 {r}, {by}, {r};")
            elif how == 2:
                q = self.predicate()
                self.emit(f"add.s32 {r}, {r}, 1;")
                self.emit(f"setp.eq.s32 {q}, {r}, {self.pick([2, 3, 4])};")
                self.emit(f"selp.b32 {r}, 0, {r}, {q};")
            elif how == 3:
                self.emit(f"add.s32 {r}, {r}, {by};")
            else:
                self.emit(f"{self.pick(['mul.lo.s32', 'and.b32', 'or.b32', 'min.s32', 'max.u32'])} {r}, {r}, {self.constant()};")
        change = {"right": f"shr.{kind} {i}, {i}, {self.pick([1, 1, 2])};", "left": f"shl.b32 {i}, {i}, 1;",
                  "down": f"add.s32 {i}, {i}, -{step};"}.get(form, f"add.s32 {i}, {i}, {step};")
        self.emit(change)
        if form == "carried":
            skip = self.label()
            self.emit(f"setp.lt.s32 {p}, {i}, {self.number(0, 8)};\n\t@{p} bra {skip};\n\tsetp.lt.s32 {carried}, {i}, {self.pick(['5', '12', '%t'])};")
            self.lines.append(skip + ":")
        if head:
            self.emit(f"bra.uni {top};")
        else:
            self.emit(exit_test)
            self.emit(f"@!{p} bra {top};")
        self.lines.append(end + ":")
        del self.pool[before:]
        if self.chance(0.3):
            self.pool.append(i)
            self.odd.add("counter after its loop")
        self.depth -= 1

    def text(self, block):
        x = self.name
        self.whole = block[0] * block[1] * block[2] % 32 == 0
        self.emit("mov.u32 %t, %tid.x;")
        self.emit(f"ld.param.u32 %a, [{x}_a];")
        self.emit(f"ld.param.u32 %b, [{x}_b];")
        self.emit(f"ld.param.u64 %gen, [{x}_p];")
        self.emit("cvta.to.global.u64 %global, %gen;")
        self.emit(f"mov.u32 %base, buffer_{x};")
        self.emit("cvt.u64.u32 %own, %base;\n\tcvta.shared.u64 %own, %own;")
        self.pool, self.uniform = ["%t"], ["%a", "%b"]
        for d in "yz":
            if block["xyz".index(d)] > 1 or self.chance(0.1):
                r = self.word()
                self.emit(f"mov.u32 {r}, %tid.{d};")
                self.pool.append(r)
        if self.chance(0.3):
            r = self.word()
            self.emit(f"mov.u32 {r}, {self.pick(['%ctaid.x', '%ntid.x', '%ctaid.y', '%nctaid.x'])};")
            self.uniform.append(r)
        if self.chance(0.2):
            r = self.word()
            self.emit(f"mov.u32 {r}, {self.pick(['%laneid', '%warpid', '%lanemask_lt'])};")
            self.pool.append(r)
        for _ in range(self.number(0, 3)):
            self.step()
        if self.chance(0.5):
            self.pool.append(self.pick(self.uniform))
            self.odd.add("parameter")
        self.body(self.number(2, 7))
        self.emit("ret;")
        dynamic = self.chance(0.1)
        align = self.pick([16, 16, 128, 1024])
        head = [f".visible .entry {x}(.param .u32 {x}_a, .param .u32 {x}_b, .param .u64 {x}_p)", "{",
                f"\t.reg .pred %p<{self.predicates + 1}>;", "\t.reg .b16 %h<9>;", f"\t.reg .b32 %r<{self.words + 1}>;",
                f"\t.reg .b64 %rd<{self.doubles + 1}>;", "\t.reg .f32 %f<5>;", "\t.reg .f64 %fd<5>;",
                "\t.reg .b32 %t, %a, %b, %base;", "\t.reg .b64 %gen, %global, %own;"]
        outside = []
        if dynamic:
            outside = [f".extern .shared .align {align} .b8 buffer_{x}[];"]
            self.odd.add("dynamic")
        else:
            head.append(f"\t.shared .align {align} .b8 buffer_{x}[{self.pick([128, 256, 1024, 4096, 8192, 16384, 5000])}];")
        return "\n".join(outside + head + self.lines + ["}", ""])


class Function(Kernel):
    """A device function: x, y and z become %t, %a and %b; a base and two pointers, one of them generic and to shared memory."""

    def __init__(self, rng, name, data, functions):
        super().__init__(rng, name, data, functions)
        self.form = self.pick(["param", "param", "reg", "array"])
        self.returns = self.pick(["value", "value", "address"] + (["pair"] if self.form != "reg" else []))
        self.aligned = self.chance(0.15)  # all lanes must call it
        self.whole = self.aligned
        if functions:
            self.odd.add("function in a function")

    def load(self):
        """The parameters into registers."""
        x, names = self.name, ["%t", "%a", "%b", "%base"]
        if self.form == "reg":
            for i, to in enumerate(names):
                self.emit(f"mov.b32 {to}, {x}_{i};")
            self.emit(f"mov.b64 %global, {x}_4;\n\tmov.b64 %own, {x}_5;")
            return [".reg .b32"] * 4 + [".reg .b64"] * 2
        if self.form == "array":
            for i, to in enumerate(names):
                self.emit(f"ld.param.u32 {to}, [{x}_0+{4 * i}];")
            self.emit(f"ld.param.v2.u64 {{%global, %own}}, [{x}_0+16];")
            return None
        for i, to in enumerate(names):
            self.emit(f"ld.param.{self.pick(['u32', 'b32', 's32', 'u16', 's8']) if i == 2 else 'u32'} {to}, [{x}_{i}];")
        self.emit(f"ld.param.u64 %global, [{x}_4];\n\tld.param.u64 %own, [{x}_5];")
        return [".param .b32"] * 4 + [".param .b64"] * 2

    def text(self, block):
        x = self.name
        kinds = self.load()
        shared = self.chance(0.4)
        if shared:
            self.emit(f"mov.u32 %base, own_{x};")
            self.odd.add("shared variable of a function")
        self.pool, self.uniform = ["%t", "%b"], ["%a", "%b"]
        if self.chance(0.5):
            r = self.word()
            self.emit(f"mov.u32 {r}, %tid.x;")
            self.pool.append(r)
        if self.chance(0.5):
            self.generic()
        if self.chance(0.3):
            self.before_return()
            self.emit(f"@{self.condition()} ret;")
            self.whole = False
            self.odd.add("return in the middle")
        self.body(self.number(1, 4))
        if self.chance(0.3):
            self.generic()
        if self.chance(0.06) and not self.aligned:
            p, deeper = self.predicate(), self.word()
            self.emit(f"setp.lt.u32 {p}, %a, 3;\n\tadd.u32 {deeper}, %a, 1;")
            self.call(self, f"@{p} ", deeper)
            self.odd.add("recursion")
        self.result(self.pick(self.pool[-4:]))
        self.emit("ret;")
        taken = f".param .align 8 .b8 {x}_0[32]" if kinds is None else ", ".join(f"{k} {x}_{i}" for i, k in enumerate(kinds))
        given = {"reg": f".reg .b32 {x}_r"}.get(self.form, f".param .align 8 .b8 {x}_r[16]" if self.returns == "pair" else f".param .b32 {x}_r")
        head = [f".func ({given}) {x}({taken})", "{", f"\t.reg .pred %p<{self.predicates + 1}>;", "\t.reg .b16 %h<9>;",
                f"\t.reg .b32 %r<{self.words + 1}>;", f"\t.reg .b64 %rd<{self.doubles + 1}>;", "\t.reg .f32 %f<5>;", "\t.reg .f64 %fd<5>;",
                "\t.reg .b32 %t, %a, %b, %base;", "\t.reg .b64 %own, %global;"]
        if shared:
            head.append(f"\t.shared .align {self.pick([16, 128])} .b8 own_{x}[{self.pick([256, 1024, 4096, 5000])}];")
        return "\n".join(head + self.lines + ["}", ""])

    def generic(self):
        """An access by the generic pointer that the caller has to its shared memory."""
        d, e, w = self.double(), self.double(), self.word()
        self.emit(f"and.b32 {w}, {self.pick(self.pool)}, {self.pick([31, 63, 255])};")
        self.emit(f"mul.wide.u32 {d}, {w}, {self.pick([4, 8, 12, 16, 64, 128, 132])};")
        self.emit(f"add.s64 {e}, %own, {d};")
        self.emit(self.pick([f"ld.u32 {self.word()}, [{e}];", f"st.u32 [{e}], %t;", f"ld.v2.u16 {{%h1, %h2}}, [{e}+4];"]))
        self.odd.add("generic pointer as a parameter")

    def before_return(self):
        self.result(self.operand())

    def result(self, text):
        r, w = f"{self.name}_r", self.word()
        self.emit(f"mov.u32 {w}, {text};")
        if self.returns == "address":
            self.emit(f"and.b32 {w}, {w}, {self.pick([31, 63, 255])};")
            self.emit(f"mul.lo.u32 {w}, {w}, {self.pick([4, 8, 12, 32, 132])};")
            self.emit(f"add.u32 {w}, {w}, %base;")
        if self.form == "reg":
            self.emit(f"mov.b32 {r}, {w};")
        elif self.returns == "pair":
            self.emit(f"st.param.v2.b32 [{r}+4], {{{w}, %a}};")
        else:
            self.emit(f"st.param.b32 [{r}+0], {w};")


def cases(rng, count, block, data=0.12):
    """`count` kernels in one PTX text, and for each its odd features."""
    parts, odd = [".version 8.5", ".target sm_90a", ".address_size 64", ""], {}
    parts += [f".extern .func (.param .b32 r) {name}(.param .b32 a);" for name in ("vprintf", "elsewhere")]
    for i in range(count):
        functions = []
        if rng.random() < 0.4:
            for j in range(int(rng.integers(1, 4))):
                f = Function(rng, f"k{i}_f{j}", data, functions)
                parts.append(f.text(block))
                functions.append(f)
        kernel = Kernel(rng, f"k{i}", data, functions)
        parts.append(kernel.text(block))
        odd[kernel.name] = kernel.odd.union(*(f.odd for f in functions))
    return "\n".join(parts) + "\n", odd
