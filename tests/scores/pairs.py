#!/usr/bin/env python3
"""Kernels of projects with an error of synchronisation, before (wrong) and after (right) the commit that fixes it.

The checkout is a folder of git repositories, or links to them: HeCBench, DeepEP, FlashKDA, TransformerEngine, cutlass. Each source is compiled as it is, with the edits that PAIRS
names; sizes are small. Where a kernel's control depends on data the answer is unknown.
"""
import functools
import pathlib
import re
import subprocess

import suite

#: Functions without branches: control does not follow data.
MATH = """#define powf(x, y) ((x) * (y))
#define cosf(x) ((x) * 2.f)
#define exp(x) ((x) * 3.f)
"""
#: A sum by atomics is left out: the question is about the other accesses.
NO_SUM = '#define atomicAdd(p, v) asm volatile("" :: "l"((long long)(v)))\n'
QUANTIZE = """
template __global__ void transformer_engine::dispatch::mxfp8::quantize_kernel::quantize_mxfp8_kernel<
    true, false, false, transformer_engine::Empty, nullptr, transformer_engine::bf16, transformer_engine::fp8e4m3, true, false, false, 128, 128, 128>(
    const __grid_constant__ CUtensorMap, const __grid_constant__ CUtensorMap, const __grid_constant__ CUtensorMap, const __grid_constant__ CUtensorMap,
    transformer_engine::e8m0_t *const, transformer_engine::e8m0_t *const, const float *, float *const, float *const, const size_t, const size_t, const size_t, const size_t);
"""
FLASHKDA = {"repo": "FlashKDA", "commit": "5fdc7b2", "source": "csrc/smxx/fwd_launch.cu", "paths": ["csrc"], "label": "missing fence",
            "flags": ["--expt-relaxed-constexpr", "--extended-lambda", "-IROOT/csrc", "-IROOT/csrc/smxx", "-ICUTLASS/include"],
            "edits": [(r"INSTANTIATE_STATE_VARIANTS\((?:true|false)\).*", "")], "behind": "INSTANTIATE_LAUNCH_FWD(128, true, true, true, false)\n"}


#: Stands for NVSHMEM, which the receiving half of the kernel does not call.
IBGDA = """#pragma once
#include <cooperative_groups.h>
#include "utils.cuh"
namespace deep_ep::legacy {
namespace cg = cooperative_groups;
template <class... A> __device__ void nothing(A...) {}
#define nvshmemi_ibgda_put_nbi_warp nothing
#define nvshmemi_ibgda_amo_nonfetch_add nothing
#define nvshmemi_ibgda_rma_p nothing
#define nvshmemi_ibgda_quiet nothing
#define nvshmemx_barrier_all_block() __syncthreads()
struct State { int num_rc_per_pe, num_devices_initialized; };
__device__ inline State* ibgda_get_state() { return nullptr; }
__device__ inline uint64_t nvshmemi_get_p2p_ptr(uint64_t at, int, int) { return at; }
}
"""
DEEPEP = {"repo": "DeepEP", "commit": "d4f41e4", "source": "csrc/kernels/legacy/internode_ll.cu", "paths": ["csrc", "deep_ep/include"], "kernel": "7combine", "label": "missing fence",
          "flags": ["--expt-relaxed-constexpr", "-IROOT/deep_ep/include"], "files": {"csrc/kernels/legacy/ibgda_device.cuh": IBGDA},
          "edits": [(r"(?ms)^void \w+\([^{;]*\{.*?^\}\n", ""),  # functions of the host
                    (r"static_cast<int>\(__ldg\(topk_idx [^;]*;", "lane_id % 2;"), (r"cg::this_grid\(\)\.sync\(\)", "__syncthreads()"),
                    (r"(if \(elect_one_sync\(\)\)\s*\{?\s*(?:mbarrier_arrive\(empty|tma_store_1d\(tma_st_buffers))", r"__syncwarp(); \1"),
                    (r"(\n *tma_store_wait<0>\(\);)(\n\n *#pragma unroll)", r"\1 __syncwarp();\2"),
                    (r"(mbarrier_init\(empty_barriers\[lane_id\], num_decode_warps\);)", r"\1 fence_barrier_init();")],
          "behind": "\nvoid const* used() { return reinterpret_cast<void const*>(&deep_ep::legacy::internode_ll::combine<false, 2048, 11, 4>); }\n"}


def words(values):
    return [word for value in values.split() for word in ("--param", value)]


def maps(arrays):
    """Options for TMA copies of CuTe: each has a tensor map, and a stride of 1 behind it."""
    return [word for number, array in enumerate(arrays) for word in ("--param", f"{number}+0={array}", "--param", f"{number}+128=1")]


#: Repository, commit, folder or file that is compiled, a part of the kernel's name, label, options, prelude, edits of the source (pattern, replacement), remark.
PAIRS = [
    {"name": "HeCBench/adv", "repo": "HeCBench", "commit": "e183435b0", "source": "src/adv-cuda/main.cu", "paths": ["src/adv-cuda", "src/include"], "kernel": "advCubatureHex3D", "label": "race",
     "flags": ["-Ddfloat=double", "-Ddlong=int"],
     "options": "--block 16,16 --param 0=1 --param 1=vgeo:f64[16384] --param 2=cubvgeo:f64[65536] --param 3=cubD:f64[256] --param 4=cubT:f64[256] --param 5=512 --param 6=U:f64[2048] --param 7=NU:f64[2048]"},
    {"name": "HeCBench/aidw", "repo": "HeCBench", "commit": "072420d21", "source": "src/aidw-cuda/main.cu", "paths": ["src/aidw-cuda", "src/include"], "kernel": "AIDW_Kernel_Tiled", "label": "race",
     "prelude": MATH, "edits": [(r"r_obs / r_exp", "1.f")], "remark": "r_obs / r_exp is replaced by 1, since alpha decides branches",
     "options": "--block 256 --param 0=dx:f32[512] --param 1=dy:f32[512] --param 2=dz:f32[512] --param 3=512 --param 4=ix:f32[256] --param 5=iy:f32[256] --param 6=iz:f32[256] --param 7=256 "
                "--param 8=4:f32 --param 9=d:f32[256]"},
    {"name": "HeCBench/expdist", "repo": "HeCBench", "commit": "3583b2c4d", "source": "src/expdist-cuda/main.cu", "paths": ["src/expdist-cuda", "src/include"], "kernel": "8distanceIf", "label": "race",
     "prelude": MATH + NO_SUM, "remark": "the sum by atomics is left out",
     "explained": {"right": "after the fix, rows of threads still write the same values to sh_A and sh_scale_A; PTX ISA, Memory Consistency Model: unordered weak writes are a race"},
     "options": "--block 32,8 --param 0=A:f32[1024] --param 1=B:f32[1024] --param 2=128 --param 3=32 --param 4=sA:f32[128] --param 5=sB:f32[128] --param 6=c:f32[1]"},
    {"name": "HeCBench/knn", "repo": "HeCBench", "commit": "22574e782", "source": "src/knn-cuda/main.cu", "paths": ["src/knn-cuda", "src/include"], "kernel": "cuComputeDistanceGlobal", "label": "race",
     "options": "--block 16,16 --param 0=A:f32[1024] --param 1=32 --param 2=B:f32[1024] --param 3=32 --param 4=32 --param 5=AB:f32[1024]"},
    {"name": "HeCBench/aop", "repo": "HeCBench", "commit": "53a5a4393", "source": "src/aop-cuda/main.cu", "paths": ["src/aop-cuda", "src/include"], "kernel": "prepare_svd_kernelILi256E9PayoffPut",
     "label": "race", "prelude": NO_SUM + "#define atomicOr(p, v) (v)\n", 
     "edits": [(r"__shared__ int lsum;", "volatile __shared__ int lsum;"), (r"payoff\.is_in_the_money\(S\);", "path & 1;"), (r"\n( *)svd_3x3\(lsum, lsums, smem_svds\);", r"\n\1smem_svds[0] = lsums.x + lsum;")],
     "remark": "is_in_the_money() is replaced by path & 1, so that the price decides no branch; the atomic sums and svd_3x3 are left out",
     "options": "--block 256 --param 0=512 --param 1=0 --param 2+0=4:f64 --param 3=p:f64[512] --param 4=o:i32[1] --param 5=s:f64[16]"},
    {"name": "HeCBench/merge", "repo": "HeCBench", "commit": "c9378baa3", "source": "src/merge-cuda/main.cu", "paths": ["src/merge-cuda", "src/include"], "kernel": "workloadDiagonalsIf", "label": "race",
     "options": "--block 32 --grid 4 --only-block 1 --param 0=A:f32[256] --param 1=256 --param 2=B:f32[256] --param 3=256 --param 4=d:i32[16]"},
    {"name": "HeCBench/asta", "repo": "HeCBench", "commit": "a57980e7b", "source": "src/asta-cuda/main.cu", "paths": ["src/asta-cuda", "src/include"], "kernel": "PTTWAC_soa_asta", "label": "race",
     "options": "--block 64 --param 0=4 --param 1=64 --param 2=64 --param 3=in:f32[16384] --param 4=f:i32[1024] --param 5=h:i32[4]"},
    {"name": "HeCBench/bh", "repo": "HeCBench", "commit": "40e3c96b4", "source": "src/bh-cuda/main.cu", "paths": ["src/bh-cuda", "src/include"], "kernel": "ForceCalculationKernel", "label": "race",
     "options": "--block 256 --param 0=512 --param 1=256 --param 2=1:f32 --param 3=1:f32 --param 4=1:f32 --param 5=s:i32[256] --param 6=c:i32[4096] --param 7=p:f32[4096] --param 8=v:f32[1024] "
                "--param 9=a:f32[2048] --param 10=r:f32[1] --param 11=b:i32[1]"},
    {"name": "HeCBench/tqs", "repo": "HeCBench", "commit": "c8c72ad64", "source": "src/tqs-cuda/kernel.cu", "paths": ["src/tqs-cuda", "src/include"], "kernel": "TaskQueue_gpu", "label": "race",
     "options": "--block 64 --shared-bytes 64 --param 0=q:i32[256] --param 1=d:i32[4096] --param 2=c:i32[1] --param 3=10 --param 4=0 --param 5=16"},
    {"name": "HeCBench/p4", "repo": "HeCBench", "commit": "69787e266", "source": "src/p4-cuda/main.cu", "paths": ["src/p4-cuda", "src/include"], "kernel": "postprocess", "label": "race",
     "options": "--block 64 " + " ".join(f"--param {i}={n}:f32[16384]" for i, n in enumerate(("cls", "box", "dir", "anchors", "bottom", "bnd"))) + " --param 6=b2:f32[16384] --param 7=count:i32[1] " + " ".join(f"--param {i}=1:f32" for i in (8, 9, 10, 11)) + " " +
     " ".join(f"--param {i}=2" for i in range(12, 17)) + " --param 17=1:f32 --param 18=1:f32"},
    {"name": "TransformerEngine/hadamard_transform", "repo": "TransformerEngine", "commit": "57b5b6076", "source": "transformer_engine/common/hadamard_transform/hadamard_transform.cu",
     "paths": ["transformer_engine/common"], "kernel": "HadamardAmaxTmaKernelI13__nv_bfloat16Li16ELi128ELi128ELi64ELi64ELi128ELi1ELb1ELb1ELb1E", "label": "missing fence", "arch": "sm_100a",
     "flags": ["--expt-relaxed-constexpr", "-IROOT/transformer_engine/common/include", "-IROOT/transformer_engine"], "edits": [(r"atomicMaxFloat\((\w+), (\w+)\);", r"*\1 = \2;")],
     "remark": "the atomic maximum is replaced by a store, wmma.mma by a copy of registers",
     "options": ["--block", "128", "--grid", "2,2", "--only-block", "0", "--shared-bytes", "17024", "--param", "0=x:bf16[256][256] box[64][64] 128B", "--param", "1=a:f32[1]", "--param", "2=b:f32[1]",
                 "--param", "3=c:f32[1]", "--param", "4=21845", "--param", "5=21845", "--param", "6=256", "--param", "7=256"]},
    {"name": "TransformerEngine/quantize_mxfp8", "repo": "TransformerEngine", "commit": "5d947a037", "source": "transformer_engine/common/cast/mxfp8/quantize_mxfp8.cuh",
     "paths": ["transformer_engine/common"], "kernel": "quantize_mxfp8_kernelILb1ELb0ELb0", "label": "race", "arch": "sm_100a",
     "flags": ["--expt-relaxed-constexpr", "-IROOT/transformer_engine/common/include", "-IROOT/transformer_engine"], "behind": QUANTIZE,
     "headers": {"transformer_engine/common/util/ptx.cuh": [(r"if \(biased_exp == 25[45]\) return[^;]*;", "")]}, 
     "edits": [(r"(const size_t stage_offset_Y = stage \* BUFF_DIM_Y;)\n", r"\1 ptx::cp_async_bulk_wait_group_read<1>(); __syncthreads();\n")],
     "remark": "each stage waits for the bulk store before the last, and then at a barrier: without these both have other races (stage 2 writes what the store of stage 0 reads, and thread 0 alone waits "
               "for it; stage 3 does not wait for the store of stage 1); scales are neither NaN nor 2^127, which decides branches",
     "options": ["--block", "128", "--grid", "2,2", "--only-block", "0", "--shared-bytes", "65536", "--param", "0=x:bf16[256][256] box[32][128]", "--param", "1=z:bf16[256][256] box[32][128]",
                 "--param", "2=y:u8[256][256] box[32][128]", "--param", "3=w:u8[256][256] box[32][128]", "--param", "4=s:u8[4096]", "--param", "5=0", "--param", "6=0", "--param", "7=d:f32[1024]",
                 "--param", "8=0", "--param", "9=256", "--param", "10=256", "--param", "11=8", "--param", "12=8"]},
    {"name": "FlashKDA/fwd_kernel1", **FLASHKDA, "kernel": "fwd_prepare",
     "options": ["--block", "256", "--grid", "2", "--only-block", "0", "--shared-bytes", "65536", *maps([
         "q:bf16[1][32][128] box[1][16][128]", "k:bf16[1][32][128] box[1][16][128]", "b:bf16[32] box[32]", "g:bf16[1][32][128] box[1][16][128]", "dt:f32[1][128] box[1][128]",
         *(f"{n}:bf16[2][16][128] box[1][16][8]" for n in ("kd", "qd", "kr")), "gt:f32[2][128] box[1][128]", *(f"{n}:bf16[2][16][16] box[1][16][8]" for n in ("inv", "mqk"))]),
         *words("11=1:f32 12=32 13=1 14=1 15=0 16=2 17=A:f32[1] 18=1:f32")]},
    {"name": "FlashKDA/fwd_kernel2", **FLASHKDA, "kernel": "fwd_recurrence",
     "remark": "fences after stores only (--proxy write): with --proxy strict the fixed kernel is refuted, too, since the TMA overwrites the f32 state that threads have read without a fence",
     "options": ["--proxy", "write", "--block", "192", "--shared-bytes", "200000", *maps([
         "v:bf16[1][32][128] box[1][16][8]", "b:bf16[32] box[32]", *(f"{n}:bf16[2][16][128] box[1][16][8]" for n in ("kd", "qd", "kr")), "gt:f32[2][128] box[1][128]",
         *(f"{n}:bf16[2][16][16] box[1][16][8]" for n in ("inv", "mqk")), "si:f32[1][128][128] box[1][128][8]", "so:f32[1][128][128] box[1][128][8]", "o:bf16[1][32][128] box[1][16][8]"]),
         *words("11=o2:bf16[32][128] 12=32 13=1 14=1 15=0 16=2")]},
    {"name": "DeepEP/internode_ll", **DEEPEP,
     "remark": "only the receiving half; the expert is a function of the lane; added, since both versions lack it: __syncwarp before the elected lane arrives or stores and after wait_group, and a fence after mbarrier.init",
     "options": ["--block", "1024", "--grid", "6", "--only-block", "5", "--shared-bytes", "60000",
                 *words("0=c:bf16[24][2048] 1=r:bf16[64][2080] 2=f:i32[64] 3=0 4=0 5=t:i64[64] 6=w:f32[24][2] 7=0 8=0 9=0 10=0 11=0 12=0 13=a:i32[1] 14=24 15=2048 16=2 17=32 18=2 19=0 20=1 21=1 22=32 "
                        "23=2 24=0")]},
    {"name": "cutlass/sm90_pipeline", "repo": "cutlass", "commit": "c506e1678", "own": "pipeline.cu", "paths": ["include"], "kernel": "rows", "label": "missing fence",
     "flags": ["--expt-relaxed-constexpr", "-IROOT/include"], "remark": "PipelineTmaAsync in a kernel of tests/scores, in a cluster of one block",
     "options": "--block 160 --param 0=to:f32[128] --param 1=from:f32[4][128] --param 2=4"},
    # wrong in the snapshot, and not fixed: #253, #255, #256
    {"name": "HeCBench/surfel", "repo": "HeCBench", "commit": "f27000a51", "open": True, "source": "src/surfel-cuda/main.cu", "paths": ["src/surfel-cuda", "src/include"],
     "kernel": "surfel_render_tileIfLi256", "label": "race", "options": "--block 16,16 --param 0=s:f32[4096] --param 1=512 --param 2=1:f32 --param 3=16 --param 4=16 --param 5=d:f32[256]"},
    {"name": "HeCBench/morphology", "repo": "HeCBench", "commit": "f27000a51", "open": True, "source": "src/morphology-cuda/morphology.cu", "paths": ["src/morphology-cuda", "src/include"],
     "kernel": "vhgw_horizIL11MorphOpType0", "label": "race", "options": "--block 64 --shared-bytes 512 --param 0=d:u8[1024] --param 1=s:u8[1024] --param 2=256 --param 3=4 --param 4=64"},
    {"name": "HeCBench/sosfil", "repo": "HeCBench", "commit": "f27000a51", "open": True, "source": "src/sosfil-cuda/main.cu", "paths": ["src/sosfil-cuda", "src/include"], "kernel": "sosfiltIf",
     "label": "race", "options": "--block 64 --shared-bytes 4096 --param 0=1 --param 1=80 --param 2=64 --param 3=2 --param 4=sos:f32[384] --param 5=zi:f32[128] --param 6=x:f32[128]"},
    {"name": "HeCBench/fsm", "repo": "HeCBench", "commit": "75d70c1f2", "source": "src/fsm-cuda/main.cu", "paths": ["src/fsm-cuda", "src/include"], "kernel": "FSMKernel", "label": "race",
     "options": "--block 256 --param 0=16 --param 1=data:u16[16] --param 2=best:i32[8] --param 3=r:u32[4096] --param 4=b:u8[4096] --param 5=s:u8[4096] --param 6=x:i32[8] --param 7=y:i32[8] --param 8=z:i32[8]"},
    {"name": "HeCBench/fsm best", "repo": "HeCBench", "commit": "3b04c0ec0", "source": "src/fsm-cuda/main.cu", "paths": ["src/fsm-cuda", "src/include"], "kernel": "FSMKernel", "label": "race",
     "options": "--block 256 --param 0=16 --param 1=data:u16[16] --param 2=best:i32[8] --param 3=r:u32[4096] --param 4=b:u8[4096] --param 5=s:u8[4096] --param 6=x:i32[8] --param 7=y:i32[8] --param 8=z:i32[8]"},
]


def git_folder(repo):
    for one in (repo, repo / ".git", repo / "repo/.git", repo / "repo"):
        if (one / "HEAD").exists():
            return one
    raise suite.Failed(f"no git repository {repo.name}")


def extracted(repo, commit, paths):
    """Folder with these paths of a commit."""
    to = s.folder / f"{repo.name}-{commit.replace('^', '_before')}-{paths[0].replace('/', '_')}"
    to.mkdir(parents=True, exist_ok=True)
    if any(to.iterdir()):
        return to
    git = ["git", "--git-dir", git_folder(repo)]
    listed = subprocess.run([*git, "ls-tree", "-r", commit, *paths], capture_output=True, text=True, check=False)
    if listed.returncode != 0 or not listed.stdout:
        raise suite.Failed(f"git: {listed.stderr.strip() or 'no such files'}")
    files = [(line.split()[2], line.split("\t")[1]) for line in listed.stdout.strip().split("\n") if line.split()[1] == "blob"]
    held = subprocess.run([*git, "cat-file", "--batch"], input="".join(f"{blob}\n" for blob, _ in files).encode(), capture_output=True, check=True).stdout
    at = 0
    for _, file in files:
        end = held.index(b"\n", at)
        header = held[at:end].split()
        if header[1] == b"missing":  # a large file, which a partial clone lacks
            at = end + 1
            continue
        (to / file).parent.mkdir(parents=True, exist_ok=True)
        (to / file).write_bytes(held[end + 1:end + 1 + int(header[2])])
        at = end + 2 + int(header[2])
    return to


def without_wmma(ptx):
    """wmma.mma, of registers alone, as copies of the registers of A."""
    def copies(m):
        to, of = ([one.strip() for one in m.group(k).split(",")] for k in (1, 2))
        return "\n".join(f"mov.b32 {register}, {of[i % len(of)]};" for i, register in enumerate(to))

    return re.sub(r"wmma\.mma\.sync\S+\s+\{([^}]*)\}\s*,\s*\{([^}]*)\}[^;]*;", copies, ptx)


def edited_text(file, edits, commit):
    """Text of a file with each (pattern, replacement) applied."""
    text = file.read_text()
    for old, new in edits:
        if not re.search(old, text) and (new == "" or new not in text):  # a file is edited once
            raise suite.Failed(f"'{old}' is not in {file.name} of {commit}")
        text = re.sub(old, new, text)
    return text


def one_block(ptx):
    """A cluster of one block: its own shared memory is that of the cluster."""
    ptx = re.sub(r"%cluster_n?cta(id\.[xyz]|rank)", lambda m: "1" if "_n" in m.group(0) else "0", ptx)
    ptx = re.sub(r"mapa\.shared::cluster\.u32\s+(%?\w+),\s*(%?\w+),\s*[^;]+;", r"mov.u32 \1, \2;", ptx)
    return ptx.replace("mbarrier.arrive.shared::cluster", "mbarrier.arrive.shared::cta")


@functools.lru_cache(maxsize=4)
def compiled(edited, name, arch, *flags):
    return s.compile(edited, name, "-std=c++17", *flags, arch=arch)


def ptx_of(pair, commit):
    root = extracted(s.checkout / pair["repo"], commit, pair["paths"])
    source = pathlib.Path(__file__).with_name(pair["own"]) if "own" in pair else root / pair["source"]
    if not source.exists():
        raise suite.Failed(f"{pair['source']} is not in {commit}")
    text = edited_text(source, pair.get("edits", []), commit)
    for file, edits in pair.get("headers", {}).items():
        (root / file).write_text(edited_text(root / file, edits, commit))
    for file, own in pair.get("files", {}).items():
        (root / file).write_text(own)
    edited = (root if "own" in pair else source.parent) / ("asked_" + source.stem + ".cu")
    edited.write_text(text + pair.get("behind", ""))
    prelude = s.folder / "prelude.h"
    prelude.write_text(pair.get("prelude", ""))
    cutlass = extracted(s.checkout / "cutlass", "HEAD", ["include"]) if "CUTLASS" in str(pair.get("flags")) else ""
    flags = [flag.replace("ROOT", str(root)).replace("CUTLASS", str(cutlass)) for flag in pair.get("flags", [])]
    includes = [f"-I{source.parent}", f"-I{root}/src/include", "-include", "cuda_runtime.h", "-include", "cmath", "-include", prelude]
    return compiled(edited, f"{pair['repo']} {edited.stem} {commit}", pair.get("arch", "sm_90a"), *flags, *includes)


def main():
    for pair in PAIRS:
        sides = [(pair["commit"], pair["label"])] if pair.get("open") else [(pair["commit"] + "^", pair["label"]), (pair["commit"], "right")]
        for commit, label in sides:
            name = f"{pair['name']} {commit}"
            if not s.wanted(name) or not (s.checkout / pair["repo"]).exists():
                continue
            try:
                ptx, more = suite.lifted(suite.cut(ptx_of(pair, commit), pair["kernel"])[0])
                ptx = one_block(without_wmma(re.sub(r"\.volatile\b", "", ptx)).replace(", 0.0,", ", 0f00000000,"))
                s.ask(name, label, ptx, *(pair["options"].split() if isinstance(pair["options"], str) else pair["options"]), *more, note=pair.get("remark", ""), explained=pair.get("explained", {}).get(label, ""))
            except suite.Failed as failed:
                s.not_asked(name, label, str(failed))
    s.end()


if __name__ == "__main__":
    s = suite.Suite("pairs of commits", commit="in each name")
    main()
