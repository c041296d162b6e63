"""Kernels of flow_pairs.py: tcgen05 of pairs of blocks, right ones with one or two instructions changed, and their PTX."""
import copy

import flow_clusters
from flow_clusters import Op

A, B, BARS = 0, 256, 512  # bytes of a block's tile
PARTS = ("alloc", "dealloc", "relinquish")  # what a warp of the peer has a part of, too


class Kernel(flow_clusters.Kernel):
    """Instructions of each warp, by (rank, warp), and the rows of D."""

    def __init__(self, warps, rows):
        self.code = {(r, w): [] for r in range(2) for w in warps[r]}
        self.rows = rows


# ------------------------------------------------------------------------------------------ the text


def text_of(kernel, slots):
    """The kernel as PTX. A and B of a block are 128 bytes each, 8 rows of 16 bytes: strides of 0 make all rows and both halves of k out of them."""
    threads = sorted(kernel.code)
    of_block = [32 * sum(r == rank for r, _ in threads) for rank in range(2)]
    out = [".version 8.7", ".target sm_100a", ".address_size 64", ".entry k(.param .u64 y)", "{", ".reg .pred %p<9>; .reg .b16 %h<2>; .reg .b32 %r<20>; .reg .f32 %f<99>; .reg .b64 %rd<9>;",
           f".shared .align 1024 .b8 tile[{BARS + 32}];", "ld.param.u64 %rd1, [y]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; setp.eq.u32 %p0, %r2, 0;",
           "mov.u32 %r3, %cluster_ctarank; shr.u32 %r4, %r1, 5; mov.u32 %r6, tile; shl.b32 %r5, %r2, 2; add.u32 %r5, %r5, %r6; shl.b32 %r9, %r4, 21;",
           f"and.b32 %r7, %r6, 0x3ffff; shr.u32 %r7, %r7, 4; cvt.u64.u32 %rd2, %r7; or.b64 %rd2, %rd2, {1 << 46}; add.u64 %rd3, %rd2, {B >> 4};",
           f"mov.u32 %r8, {kernel.rows >> 4 << 24 | 2 << 17 | 2 << 10 | 2 << 7 | 1 << 4}; mad.lo.u32 %r10, %r3, 4, %r4;"]
    for t, (r, w) in enumerate(threads):
        out += [f"setp.eq.u32 %p2, %r10, {4 * r + w};", f"@%p2 bra T{t};"]
    out.append("ret;")
    for t, thread in enumerate(threads):
        out.append(f"T{t}:")
        loads = 0
        for i, op in enumerate(kernel.code[thread]):
            loads += op.kind == "ld"
            out += instruction(op, f"{t}_{i}", loads, slots.get((t, i)), of_block[thread[0]])
        out.append("ret;")
    return "\n".join(out + ["}", ""])


def instruction(op, label, loads, slot, threads):
    group = "cta_group::2"
    if op.kind == "st":
        return [f"mov.f32 %f0, 0f{2 ** 23 * (127 + op.value):08x}; st.shared.f32 [%r5+{op.buffer and B}], %f0;"]
    if op.kind == "alloc":
        return [f"add.u32 %r11, %r6, {BARS + 16}; tcgen05.alloc.{group}.sync.aligned.shared::cta.b32 [%r11], 32;"]
    if op.kind == "dealloc":
        return [f"mov.u32 %r11, 0; tcgen05.dealloc.{group}.sync.aligned.b32 %r11, 32;"]
    if op.kind == "mma":
        return [f"mov.u32 %r11, {16 * op.acc}; setp.ne.u32 %p4, {int(op.adds)}, 0; @%p0 tcgen05.mma.{group}.kind::tf32 [%r11], %rd2, %rd3, %r8, %p4;"]
    if op.kind == "commit":
        several = "" if op.mask is None else ".multicast::cluster"
        more = "" if op.mask is None else ", %h1"
        return [f"mov.b16 %h1, {op.mask or 0}; @%p0 tcgen05.commit.{group}.mbarrier::arrive::one.shared::cluster{several}.b64 [%r6+{BARS + 8 * op.number}]{more};"]
    if op.kind == "ld":
        return [f"add.u32 %r11, %r9, {16 * op.acc + op.column}; tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%f{loads}}}, [%r11];"]
    if op.kind == "out":
        return [f"@%p0 st.global.f32 [%rd1+{4 * slot}], %f{loads};"]
    if op.kind == "init":
        return [f"@%p0 mbarrier.init.shared::cta.b64 [%r6+{BARS + 8 * op.number}], {op.count};"]
    if op.kind == "arrive":
        return [f"mapa.shared::cluster.u32 %r11, %r6, {op.rank}; @%p0 mbarrier.arrive.{'relaxed' if op.relaxed else 'release'}.cluster.shared::cluster.b64 _, [%r11+{BARS + 8 * op.number}];"]
    if op.kind == "wait":
        return [f"W{label}: mbarrier.try_wait.parity{'.relaxed.cluster' if op.relaxed else '.acquire.cluster'}.shared::cta.b64 %p3, [%r6+{BARS + 8 * op.number}], {op.parity};", f"@!%p3 bra W{label};"]
    return {"fbefore": ["tcgen05.fence::before_thread_sync;"], "fafter": ["tcgen05.fence::after_thread_sync;"], "pfence": ["fence.proxy.async;"],
            "wld": ["tcgen05.wait::ld.sync.aligned;"], "relinquish": [f"tcgen05.relinquish_alloc_permit.{group}.sync.aligned;"], "bar": [f"bar.sync 1, {threads};"],
            "cluster_arrive": ["barrier.cluster.arrive.aligned;"], "cluster_wait": ["barrier.cluster.wait.aligned;"]}[op.kind]


# ------------------------------------------------------------------------------------------ kernels


def meet():
    return [Op("cluster_arrive"), Op("cluster_wait")]


def load(rng, acc=0):
    return [Op("ld", acc=acc, column=rng.randrange(8)), Op("wld"), Op("out")]


def drawn_warps(rng):
    return [rng.sample(range(4), rng.choice([1, 1, 2])) for _ in range(2)]


def begun(rng, k):
    """Both blocks have mbarriers and columns, A and B; returns the warps that allocate."""
    allocators = [min(t for t in k.code if t[0] == r) for r in range(2)]
    for r in range(2):
        code = k.code[allocators[r]]
        code += [Op("init", number=0, count=1), Op("init", number=1, count=1)]
    k.all(*meet())
    for r in range(2):
        code = k.code[allocators[r]]
        code.append(Op("alloc"))
        if rng.random() < 0.2:
            code.append(Op("relinquish"))
        last = max(t for t in k.code if t[0] == r)
        k.code[last] += [Op("st", buffer=0, value=rng.randrange(4)), Op("st", buffer=1, value=rng.randrange(4)), Op("pfence")]
    relinquishes = [any(op.kind == "relinquish" for op in k.code[a]) for a in allocators]
    for r in range(2):  # of both or of none
        if relinquishes[0] != relinquishes[1]:
            k.code[allocators[r]][:] = [op for op in k.code[allocators[r]] if op.kind != "relinquish"]
    if rng.random() < 0.2:  # the columns first, and then A and B
        for code in k.code.values():
            stores = [op for op in code if op.kind in ("st", "pfence")]
            code[:] = [op for op in code if op.kind not in ("st", "pfence")] + meet() + stores
    k.all(*meet())
    if rng.random() < 0.15:  # A and B first, and then the columns: an order behind tcgen05.alloc of the own block is not one behind the peer's
        for a in allocators:
            parts = [op for op in k.code[a] if op.kind in PARTS]
            k.code[a][:] = [op for op in k.code[a] if op.kind not in PARTS] + parts
        k.all(*(meet() if rng.random() < 0.5 else [Op("bar")]))
    return allocators


def ending(rng, k, allocators):
    if rng.random() < 0.3:
        k.all(Op("fbefore"))
    k.all(*(meet() if rng.random() < 0.95 else [Op("bar")]))
    for a in allocators:
        k.code[a].append(Op("dealloc"))


def waited(rng, number, parity):
    relaxed = rng.random() < 0.5
    return [Op("wait", number=number, parity=parity, relaxed=relaxed)] + ([Op("fafter")] if relaxed or rng.random() < 0.5 else [])


def issuer(rng, k):
    return rng.choice(sorted(k.code))


def product(rng, acc=0, adds=False):
    return [Op("mma", acc=acc, adds=adds)] + ([Op("mma", acc=acc, adds=True)] if rng.random() < 0.3 else [])


def local_barriers(rng, k):
    """Not right: a barrier of each block, or none, for one of the cluster."""
    for code in k.code.values():
        at = [i for i, op in enumerate(code) if op.kind == "cluster_arrive"]
        if len(at) > 1:
            code[at[1]:at[1] + 2] = [Op("bar")] if rng.random() < 0.7 else []


def multicast(rng):
    """One thread multiplies, a commit arrives in both blocks, warps load."""
    k = Kernel(drawn_warps(rng), rng.choice([128, 256]))
    allocators = begun(rng, k)
    leader = issuer(rng, k)
    k.code[leader] += product(rng) + [Op("commit", number=0, mask=3)]
    for t, code in k.code.items():
        code += waited(rng, 0, 0) + (load(rng) if rng.random() < 0.7 else [])
    ending(rng, k, allocators)
    return k


def handed(rng):
    """The commit arrives in the block that multiplies, which says so to the other one."""
    k = Kernel(drawn_warps(rng), rng.choice([128, 256]))
    allocators = begun(rng, k)
    leader = issuer(rng, k)
    own, peer = leader[0], 1 - leader[0]
    k.code[leader] += product(rng) + [Op("commit", number=0, mask=None)] + waited(rng, 0, 0) + ([Op("fbefore")] if rng.random() < 0.5 else []) + [
        Op("arrive", rank=peer, number=1, relaxed=rng.random() < 0.3)]
    for t, code in k.code.items():
        if t != leader:
            code += waited(rng, 0 if t[0] == own else 1, 0)
        code += load(rng) if rng.random() < 0.7 else []
    ending(rng, k, allocators)
    return k


def again(rng):
    """A second product into the same columns, of other stores, behind the loads of the first."""
    k = Kernel([w[:1] for w in drawn_warps(rng)], rng.choice([128, 256]))
    allocators = begun(rng, k)
    leader = issuer(rng, k)
    adds = rng.random() < 0.5
    for step in range(2):
        k.code[leader] += [Op("mma", acc=0, adds=adds and step > 0), Op("commit", number=0, mask=3)]
        for t, code in k.code.items():
            code += waited(rng, 0, step)
            if step == 0 or rng.random() < 0.5:
                code += load(rng)
            if step == 0 and rng.random() < 0.4:
                code[:] = code + [Op("fafter")] if rng.random() < 0.2 else code
                for op in code:  # the store needs what the wait acquires
                    if op.kind == "wait" and op.parity == 0:
                        op.relaxed = False
                code += [Op("st", buffer=rng.randrange(2), value=rng.randrange(4)), Op("pfence")]
        if step == 0:
            k.all(Op("fbefore"), *meet())
            k.code[leader].append(Op("fafter"))
    ending(rng, k, allocators)
    return k


def two(rng):
    """Two accumulators, by one thread or by one of each block."""
    k = Kernel(drawn_warps(rng), rng.choice([128, 256]))
    allocators = begun(rng, k)
    first, second = issuer(rng, k), issuer(rng, k)
    k.code[first] += product(rng, 0) + [Op("commit", number=0, mask=3)]
    k.code[second] += product(rng, 1) + [Op("commit", number=1, mask=3)]
    for t, code in k.code.items():
        code += waited(rng, 0, 0) + (load(rng, 0) if rng.random() < 0.5 else [])
        code += waited(rng, 1, 0) + (load(rng, 1) if rng.random() < 0.5 else [])
    ending(rng, k, allocators)
    return k


FAMILIES = [multicast, multicast, handed, again, two]


def altered(rng, op):
    changes = {"mma": [{"acc": rng.randrange(2)}, {"adds": not op.__dict__.get("adds")}], "commit": [{"mask": rng.choice([None, 1, 2, 3])}, {"number": rng.randrange(2)}],
               "wait": [{"relaxed": not op.__dict__.get("relaxed")}, {"parity": 1 - op.__dict__.get("parity", 0)}, {"number": rng.randrange(2)}],
               "ld": [{"acc": rng.randrange(2)}, {"column": rng.randrange(16)}], "st": [{"buffer": rng.randrange(2)}, {"value": rng.randrange(4)}],
               "init": [{"count": rng.choice([1, 2])}, {"number": rng.randrange(2)}],
               "arrive": [{"rank": rng.randrange(2)}, {"relaxed": not op.__dict__.get("relaxed")}, {"number": rng.randrange(2)}]}
    return op.changed(**rng.choice(changes[op.kind])) if op.kind in changes else op


def mutated(rng, k):
    codes = [code for code in k.code.values() if code]
    code = rng.choice(codes)
    i = rng.randrange(len(code))
    choice = rng.randrange(10)
    if choice == 9:  # the warp ends early
        del code[i:]
    elif choice < 3:
        del code[i]
    elif choice == 3:
        code.insert(i, code[i].changed())
    elif choice == 4:
        op = code.pop(i)
        code.insert(rng.randint(0, len(code)), op)
    elif choice == 5 and i + 1 < len(code):
        code[i], code[i + 1] = code[i + 1], code[i]
    elif choice == 6:  # of all warps, the last one of its kind
        kinds = ("cluster_arrive", "cluster_wait") if code[i].kind.startswith("cluster") else (code[i].kind,)
        for other in codes:
            for kind in kinds:
                at = [j for j, op in enumerate(other) if op.kind == kind]
                if at:
                    del other[at[-1]]
    elif choice == 7:
        code.insert(i, rng.choice([Op("fafter"), Op("fbefore"), Op("bar"), Op("pfence"), Op("wld"), Op("dealloc"), Op("mma", acc=0, adds=False)]))
    else:
        code[i] = altered(rng, code[i])


def drawn(rng):
    family = rng.choice(FAMILIES)
    k = family(rng)
    for code in k.code.values():
        code[:] = [copy.copy(op) for op in code]
    if rng.random() < 0.05:
        local_barriers(rng, k)
    for _ in range(rng.choice([0, 1, 1, 1, 2])):
        if any(k.code.values()):
            mutated(rng, k)
    for code in k.code.values():  # a register that a load has not written is no part of this model
        loads = 0
        for op in list(code):
            loads += op.kind == "ld"
            if op.kind == "out" and not loads:
                code.remove(op)
    return family.__name__, k
