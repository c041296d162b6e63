"""Triton's matrix product (the tutorial's shape of kernel) and cuBLAS, through PyTorch: programs to trace as they are."""
import sys

import torch
import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, n, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    depth = tl.arange(0, DEPTH)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, n, DEPTH):
        left = tl.load(a + rows[:, None] * n + (k + depth)[None, :])
        right = tl.load(b + (k + depth)[:, None] * n + columns[None, :])
        total += tl.dot(left, right)
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16))


def main():
    which = sys.argv[1] if len(sys.argv) > 1 else "triton"
    torch.manual_seed(1)
    n = 512
    a = torch.randn(n, n, device="cuda", dtype=torch.float16)
    b = torch.randn(n, n, device="cuda", dtype=torch.float16)
    expected = a.float() @ b.float() if which == "triton" else (a.double() @ b.double()).float()
    if which == "triton":
        c = torch.empty(n, n, device="cuda", dtype=torch.float16)
        matmul[(n // 64, n // 64)](a, b, c, n, BLOCK=64, DEPTH=32, num_warps=4)
    else:
        c = a @ b
    error = ((c.float() - expected).norm() / expected.norm()).item()
    print(f"{which} matmul: relative error {error:.1e}")
    sys.exit(0 if error < 5e-3 else 1)


main()
