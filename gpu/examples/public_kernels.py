"""Kernels that PyTorch ships, a call each (or those that are named), to look for lines that cost more than they must:

    swizproof-trace --launches 1 --out public.trace -- python3 public_kernels.py && swizproof explain public.trace
"""
import sys

import torch
import torch.nn.functional as F


def main():
    torch.manual_seed(1)
    x = torch.randn(512, 1024, device="cuda")
    h = torch.randn(8, 16, 512, 64, device="cuda", dtype=torch.float16)
    images = torch.randn(16, 64, 56, 56, device="cuda")
    weights = torch.randn(64, 64, 3, 3, device="cuda")
    indices = torch.randint(0, 1000, (4096,), device="cuda")
    table = torch.randn(1000, 256, device="cuda", requires_grad=True)
    grown = x.clone().requires_grad_()
    backends = torch.nn.attention.SDPBackend

    def attention(backend):
        with torch.nn.attention.sdpa_kernel(backend):
            return F.scaled_dot_product_attention(h, h, h)

    def norm_backward():
        F.layer_norm(grown, (1024,), torch.ones(1024, device="cuda", requires_grad=True),
                     torch.zeros(1024, device="cuda", requires_grad=True)).sum().backward()

    def batch_norm_backward():
        image = images.clone().requires_grad_()
        F.batch_norm(image, None, None, torch.ones(64, device="cuda", requires_grad=True),
                     torch.zeros(64, device="cuda"), training=True).square().sum().backward()

    calls = {
        "sum": lambda: x.sum(), "sum rows": lambda: x.sum(1), "sum columns": lambda: x.sum(0),
        "softmax": lambda: torch.softmax(torch.randn(64, 8192, device="cuda"), 1),
        "layer norm": norm_backward, "batch norm": batch_norm_backward,
        "cumsum": lambda: x.cumsum(1), "cumsum columns": lambda: x.cumsum(0), "sort": lambda: x.sort(1),
        "sort flat": lambda: x.flatten().sort(), "topk": lambda: x.topk(10), "unique": lambda: indices.unique(),
        "histogram": lambda: torch.bincount(indices), "embedding": lambda: F.embedding(indices, table).sum().backward(),
        "transposed copy": lambda: images.permute(0, 2, 3, 1).contiguous(), "cat": lambda: torch.cat([x, x]),
        "convolution": lambda: F.conv2d(images, weights, padding=1), "pool": lambda: F.max_pool2d(images, 3),
        "adaptive pool": lambda: F.adaptive_avg_pool2d(images, 7), "median": lambda: x.median(1), "mode": lambda: x[:64].mode(1),
        "float32 product": lambda: x @ x.t(), "float64 product": lambda: x.double() @ x.double().t(),
        "int8 product": lambda: torch._int_mm(torch.ones(512, 512, device="cuda", dtype=torch.int8),
                                              torch.ones(512, 512, device="cuda", dtype=torch.int8)),
        "flash attention": lambda: attention(backends.FLASH_ATTENTION),
        "memory-efficient attention": lambda: attention(backends.EFFICIENT_ATTENTION),
        "cholesky": lambda: torch.linalg.cholesky(x[:256, :256] @ x[:256, :256].t() + 2000 * torch.eye(256, device="cuda")),
        "fft": lambda: torch.fft.fft(x), "ctc loss": lambda: F.ctc_loss(
            torch.log_softmax(torch.randn(50, 16, 20, device="cuda"), 2), torch.randint(1, 20, (16, 30), device="cuda"),
            torch.full((16,), 50), torch.full((16,), 30)),
        "cross": lambda: torch.cdist(x, x), "upsample": lambda: F.interpolate(images, scale_factor=2, mode="bilinear"),
    }
    for name, call in calls.items():
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        try:
            call()
            torch.cuda.synchronize()
            print("ran", name)
        except Exception as error:  # a kernel that this build does not have
            print("left out", name, str(error).splitlines()[0])


main()
