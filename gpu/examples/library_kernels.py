"""library_kernels.py GROUP [NAME...]: kernels of libraries, a call each, all of a group or those that are named.

    swizproof-trace --launches 1 --out sort.trace --sass sort.sass -- python3 library_kernels.py sort
    swizproof crosscheck sort.trace sort.sass      # does the GPU do what is proved of the machine code?
    swizproof explain sort.trace                   # which lines cost more than they must?

Groups: those of GROUPS. PyTorch, with cuBLAS, cuDNN, cuFFT, cuSOLVER, cuSPARSE and CUB in it; JAX; CuPy; what torch.compile makes.
"""
import sys


def public_calls():
    """Kernels that PyTorch ships, a call each, to look for lines that cost more than they must."""
    import torch
    import torch.nn.functional as F

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

    return {
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


def calls_of_torch(group):
    import torch
    import torch.nn.functional as F

    torch.manual_seed(1)
    types = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16}
    integers = {"i8": torch.int8, "u8": torch.uint8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64}

    def random(*shape, of="f32"):
        if of in types:
            return torch.randn(*shape, device="cuda").to(types[of])
        return torch.randint(0, 100, shape, device="cuda").to(integers[of])

    def both_ways(function, *inputs):
        inputs = [x.clone().requires_grad_() for x in inputs]
        function(*inputs).float().square().sum().backward()

    def attention(backend, of, head, causal=False):
        with torch.nn.attention.sdpa_kernel(getattr(torch.nn.attention.SDPBackend, backend)):
            both_ways(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal), *[random(2, 4, 320, head, of=of) for _ in range(3)])

    calls = public_calls() if group == "public" else {}
    if group == "reduce":
        for t in [*types, *integers]:
            for name in ("sum", "amax", "argmax", "prod", "any") + (("mean", "std", "norm", "logsumexp") if t in types else ()):
                for dim in (0, 1):
                    calls[f"{name} {t} {dim}"] = lambda name=name, t=t, dim=dim: getattr(random(515, 1030, of=t), name)(dim)
            calls[f"sum {t}"] = lambda t=t: random(515, 1030, of=t).sum()
    if group == "norm":
        for t in types:
            for n in (30, 1000, 9000):
                calls[f"softmax {t} {n}"] = lambda t=t, n=n: both_ways(lambda x: torch.softmax(x, 1), random(64, n, of=t))
                calls[f"log_softmax {t} {n}"] = lambda t=t, n=n: both_ways(lambda x: torch.log_softmax(x, 1), random(64, n, of=t))
                calls[f"layer_norm {t} {n}"] = lambda t=t, n=n: both_ways(lambda x, w, b: F.layer_norm(x, (n,), w, b), random(64, n, of=t), random(n, of=t), random(n, of=t))
            calls[f"softmax columns {t}"] = lambda t=t: both_ways(lambda x: torch.softmax(x, 0), random(700, 70, of=t))
            calls[f"group_norm {t}"] = lambda t=t: both_ways(lambda x, w, b: F.group_norm(x, 8, w, b), random(4, 32, 28, 28, of=t), random(32, of=t), random(32, of=t))
            calls[f"batch_norm {t}"] = lambda t=t: both_ways(lambda x: F.batch_norm(x, None, None, training=True), random(16, 24, 28, 28, of=t))
            calls[f"weight_norm {t}"] = lambda t=t: both_ways(lambda v, g: torch._weight_norm(v, g, 0), random(300, 200, of=t), random(300, 1, of=t))
    if group == "sort":
        for t in [*types, *integers]:
            calls[f"sort {t}"] = lambda t=t: random(40, 1500, of=t).sort(1)
            calls[f"sort short {t}"] = lambda t=t: random(400, 100, of=t).sort(1)
            calls[f"sort flat {t}"] = lambda t=t: random(100000, of=t).sort()
            calls[f"topk {t}"] = lambda t=t: random(16, 9000, of=t).topk(20)
            calls[f"median {t}"] = lambda t=t: random(50, 700, of=t).median(1)
            calls[f"mode {t}"] = lambda t=t: random(50, 700, of=t).mode(1)
            calls[f"mode long {t}"] = lambda t=t: random(20, 2000, of=t).mode(1)
    if group == "scan":
        for t in [*types, *integers]:
            calls[f"cumsum {t}"] = lambda t=t: random(40, 1500, of=t).cumsum(1)
            calls[f"cumsum columns {t}"] = lambda t=t: random(40, 1500, of=t).cumsum(0)
            calls[f"cumsum flat {t}"] = lambda t=t: random(100000, of=t).cumsum(0)
            calls[f"cummax {t}"] = lambda t=t: random(40, 1500, of=t).cummax(1)
            calls[f"cumprod {t}"] = lambda t=t: random(40, 1500, of=t).cumprod(1)
            calls[f"unique {t}"] = lambda t=t: random(5000, of=t).unique()
            calls[f"nonzero {t}"] = lambda t=t: random(5000, of=t).nonzero()
            calls[f"masked_select {t}"] = lambda t=t: random(5000, of=t).masked_select(random(5000) > 0)
        calls["histc"] = lambda: torch.histc(random(100000), 50)
        calls["bincount"] = lambda: random(10000, of="i32").bincount()
        calls["randperm"] = lambda: torch.randperm(20000, device="cuda")
        calls["multinomial"] = lambda: torch.multinomial(random(5, 3000).abs(), 20)
    if group == "index":
        image = random(8, 16, 30, 30)
        calls["embedding"] = lambda: both_ways(lambda w: F.embedding(random(4000, of="i64"), w), random(100, 130))
        calls["embedding_bag"] = lambda: both_ways(lambda w: F.embedding_bag(random(64, 20, of="i64"), w), random(100, 130))
        calls["index_put"] = lambda: random(200, 90).index_put_((random(500, of="i64"),), random(500, 90), accumulate=True)
        calls["permute"] = lambda: image.permute(0, 2, 3, 1).contiguous()
        calls["cat"] = lambda: torch.cat([image] * 5, 1)
        calls["max_pool"] = lambda: both_ways(lambda x: F.max_pool2d(x, 3, 2), image)
        calls["adaptive_avg"] = lambda: both_ways(lambda x: F.adaptive_avg_pool2d(x, 7), image)
        calls["adaptive_max"] = lambda: both_ways(lambda x: F.adaptive_max_pool2d(x, 7), image)
        calls["upsample"] = lambda: both_ways(lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), image)
        calls["upsample cubic"] = lambda: both_ways(lambda x: F.interpolate(x, scale_factor=2, mode="bicubic"), image)
        calls["antialias"] = lambda: F.interpolate(image, scale_factor=0.4, mode="bilinear", antialias=True)
        calls["ctc"] = lambda: both_ways(lambda x: F.ctc_loss(x.log_softmax(2), torch.randint(1, 20, (16, 30), device="cuda"), torch.full((16,), 50), torch.full((16,), 30)), random(50, 16, 20))
        calls["cdist"] = lambda: both_ways(lambda x: torch.cdist(x, x[:100], 1), random(200, 30))
        calls["nll"] = lambda: both_ways(lambda x: F.cross_entropy(x, random(500, of="i64")), random(500, 100))
        calls["multi_margin"] = lambda: both_ways(lambda x: F.multi_margin_loss(x, random(50, of="i64") % 10), random(50, 10))
        calls["multilabel"] = lambda: both_ways(lambda x: F.multilabel_margin_loss(x, random(50, 10, of="i64") % 10), random(50, 10))
        calls["depthwise"] = lambda: both_ways(lambda x, w: F.conv2d(x, w, groups=16), random(8, 16, 30, 30, of="f16"), random(16, 1, 3, 3, of="f16"))
        calls["lstm"] = lambda: torch.nn.LSTM(40, 50).cuda()(random(7, 3, 40))
        calls["gru cell"] = lambda: torch.nn.GRUCell(40, 50).cuda()(random(7, 40))
        calls["trace"] = lambda: random(300, 300).trace()
        calls["tril"] = lambda: random(300, 300).tril()
        calls["renorm"] = lambda: random(30, 300).renorm(2, 0, 1.0)
        calls["segment"] = lambda: torch.segment_reduce(random(100), "sum", lengths=torch.full((10,), 10, device="cuda"))
        calls["bucketize"] = lambda: torch.bucketize(random(1000), torch.linspace(-1, 1, 50, device="cuda"))
        calls["nested"] = lambda: torch.nested.nested_tensor([random(3, 16), random(5, 16)]).to_padded_tensor(0.0)
    if group in ("flash", "efficient", "cudnn"):
        backend = {"flash": "FLASH_ATTENTION", "efficient": "EFFICIENT_ATTENTION", "cudnn": "CUDNN_ATTENTION"}[group]
        for t in ("f16", "bf16") + (("f32",) if group == "efficient" else ()):
            for head in (32, 64, 96, 128) if t == "f16" else (64,):
                for causal in (False, True):
                    calls[f"{group} {t} {head} {causal}"] = lambda t=t, head=head, causal=causal: attention(backend, t, head, causal)
    if group == "gemm":
        for t in types:
            for m, n, k in ((512, 512, 512), (1000, 40, 700), (16, 4096, 512), (127, 129, 65)):
                for a, b in ((False, False), (True, False), (False, True)):
                    calls[f"{t} {m} {n} {k} {a} {b}"] = lambda t=t, m=m, n=n, k=k, a=a, b=b: (random(k, m, of=t).t() if a else random(m, k, of=t)) @ (random(n, k, of=t).t() if b else random(k, n, of=t))
            calls[f"batched {t}"] = lambda t=t: random(20, 70, 90, of=t) @ random(20, 90, 60, of=t)
            calls[f"addmm {t}"] = lambda t=t: torch.addmm(random(300, of=t), random(200, 256, of=t), random(256, 300, of=t))
            calls[f"vector {t}"] = lambda t=t: random(700, 900, of=t) @ random(900, of=t)
            calls[f"dot {t}"] = lambda t=t: random(9000, of=t).dot(random(9000, of=t))
        calls["int8"] = lambda: torch._int_mm(random(512, 512, of="i8"), random(512, 512, of="i8"))
    if group == "conv":
        for t in ("f32", "f16", "bf16"):
            for c, size in ((3, 7), (32, 3), (64, 1)):
                for layout in (torch.contiguous_format, torch.channels_last):
                    calls[f"{t} {c} {size} {layout}"] = lambda t=t, c=c, size=size, layout=layout: both_ways(lambda x, w: F.conv2d(x, w, padding=size // 2), random(4, c, 30, 30, of=t).contiguous(memory_format=layout), random(64, c, size, size, of=t).contiguous(memory_format=layout))
            calls[f"3d {t}"] = lambda t=t: both_ways(lambda x, w: F.conv3d(x, w), random(2, 8, 12, 12, 12, of=t), random(16, 8, 3, 3, 3, of=t))
            calls[f"transposed {t}"] = lambda t=t: both_ways(lambda x, w: F.conv_transpose2d(x, w, stride=2), random(4, 16, 14, 14, of=t), random(16, 24, 3, 3, of=t))
    if group == "fft":
        for n in (16, 64, 128, 243, 256, 500, 512, 1000, 1024, 2048, 2187, 4096, 8192, 16384, 3125, 77 * 13, 1009):
            for t in ("f32", "f64"):
                calls[f"rfft {n} {t}"] = lambda n=n, t=t: torch.fft.irfft(torch.fft.rfft(random(20, n, of=t)), n)
                calls[f"fft {n} {t}"] = lambda n=n, t=t: torch.fft.fft(random(20, n, of=t).to(torch.complex64 if t == "f32" else torch.complex128))
        for n in (64, 120, 512):
            calls[f"fft2 {n}"] = lambda n=n: torch.fft.ifft2(torch.fft.fft2(random(n, n)))
        calls["fft f16"] = lambda: torch.fft.rfft(random(8, 512, of="f16"))
    if group == "linalg":
        for t in ("f32", "f64"):
            for n in (30, 200, 600):
                calls[f"cholesky {t} {n}"] = lambda t=t, n=n: torch.linalg.cholesky(torch.eye(n, device="cuda", dtype=types[t]) * 3)
                calls[f"lu {t} {n}"] = lambda t=t, n=n: torch.linalg.lu(random(n, n, of=t))
                calls[f"qr {t} {n}"] = lambda t=t, n=n: torch.linalg.qr(random(n, n, of=t))
                calls[f"eigh {t} {n}"] = lambda t=t, n=n: torch.linalg.eigh(random(n, n, of=t) + random(n, n, of=t).t())
                calls[f"svd {t} {n}"] = lambda t=t, n=n: torch.linalg.svd(random(n, n, of=t))
                calls[f"triangular {t} {n}"] = lambda t=t, n=n: torch.linalg.solve_triangular(random(n, n, of=t).triu() + 9, random(n, 30, of=t), upper=True)
            calls[f"batched lu {t}"] = lambda t=t: torch.linalg.solve(random(50, 20, 20, of=t), random(50, 20, 3, of=t))
            calls[f"batched inverse {t}"] = lambda t=t: torch.linalg.inv(random(50, 20, 20, of=t))
            calls[f"batched svd {t}"] = lambda t=t: torch.linalg.svd(random(50, 20, 20, of=t))
    if group == "sparse":
        for t in ("f32", "f64", "f16"):
            a = (random(300, 300, of=t) * (random(300, 300) > 1)).to_sparse_csr()
            calls[f"mm {t}"] = lambda a=a, t=t: a @ random(300, 70, of=t)
            calls[f"mv {t}"] = lambda a=a, t=t: a @ random(300, of=t)
            calls[f"spgemm {t}"] = lambda a=a: a @ a
            calls[f"coo {t}"] = lambda a=a, t=t: a.to_sparse_coo().coalesce() @ random(300, 70, of=t)
            calls[f"sampled {t}"] = lambda a=a, t=t: torch.sparse.sampled_addmm(a, random(300, 50, of=t), random(50, 300, of=t))
        calls["softmax"] = lambda: torch.sparse.softmax((random(300, 300) * (random(300, 300) > 1)).to_sparse(), 1)
        calls["bsr"] = lambda: (random(320, 320, of="f16")).to_sparse_bsr((32, 32)) @ random(320, 64, of="f16")
    if group == "compiled":
        functions = {"softmax": lambda x: torch.softmax(x, 1), "layer_norm": lambda x: F.layer_norm(x, (x.shape[1],)), "sum": lambda x: x.sum(0), "transpose": lambda x: (x.t() + 1).contiguous(), "cumsum": lambda x: x.cumsum(1), "sort": lambda x: x[:, :100].sort(1)[0], "product": lambda x: torch.relu(x @ x.t())}
        for name, f in functions.items():
            for t in ("f32", "f16"):
                calls[f"{name} {t}"] = lambda f=f, t=t: torch.compile(f)(random(512, 1024, of=t))
    return calls, torch.cuda.synchronize


def calls_of_jax():
    import jax
    import jax.numpy as jnp

    key = jax.random.PRNGKey(1)
    calls = {}
    for t in (jnp.float32, jnp.bfloat16, jnp.float16):
        x = jax.random.normal(key, (512, 700), t)
        calls |= {f"{name} {t.__name__}": (lambda f=f, x=x: jax.jit(f)(x)) for name, f in {
            "product": lambda x: x @ x.T, "softmax": lambda x: jax.nn.softmax(x, 1), "cumsum": lambda x: jnp.cumsum(x, 1), "sort": lambda x: jnp.sort(x, 1), "sum": lambda x: x.sum(0), "sum rows": lambda x: x.sum(1),
            "transpose": lambda x: x.T + 1, "norm": lambda x: (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True), "argmax": lambda x: x.argmax(1), "top": lambda x: jax.lax.top_k(x, 9)[0],
            "grown": lambda x: jax.grad(lambda y: jax.nn.gelu(y @ y.T).sum())(x)}.items()}
    calls["fft"] = lambda: jnp.fft.fft(jax.random.normal(key, (30, 512)))
    calls["cholesky"] = lambda: jnp.linalg.cholesky(jnp.eye(100) * 3)
    calls["sort keys"] = lambda: jnp.argsort(jax.random.randint(key, (100000,), 0, 1000))
    calls["conv"] = lambda: jax.lax.conv(jax.random.normal(key, (4, 16, 30, 30)), jax.random.normal(key, (32, 16, 3, 3)), (1, 1), "SAME")
    return calls, lambda: None


def calls_of_cupy():
    import cupy as cp

    calls = {}
    for t in ("f4", "f8", "i4", "u1"):
        x = (cp.random.random((300, 700)) * 100).astype(t)
        calls |= {f"{name} {t}": (lambda f=f, x=x: f(x)) for name, f in {
            "sort": lambda x: cp.sort(x, 1), "argsort": lambda x: cp.argsort(x.ravel()), "sum": lambda x: x.sum(0), "sum rows": lambda x: x.sum(1), "all": lambda x: x.sum(), "cumsum": lambda x: cp.cumsum(x), "max": lambda x: x.max(),
            "histogram": lambda x: cp.histogram(x, 20), "transpose": lambda x: cp.ascontiguousarray(x.T), "product": lambda x: x.astype("f4") @ x.T.astype("f4"), "unique": lambda x: cp.unique(x), "median": lambda x: cp.median(x), "norm": lambda x: cp.linalg.norm(x.astype("f4")),
            "bincount": lambda x: cp.bincount(x.ravel().astype("i4")), "partition": lambda x: cp.partition(x, 30), "scan": lambda x: cp.cumprod(x.astype("f4"), 1)}.items()}
    calls["fft"] = lambda: cp.fft.fft2(cp.random.random((300, 480)))
    return calls, cp.cuda.Stream.null.synchronize


GROUPS = ("public", "reduce", "norm", "sort", "scan", "index", "flash", "efficient", "cudnn", "gemm", "conv", "fft", "linalg", "sparse", "compiled", "jax", "cupy")


def main():
    group = sys.argv[1] if len(sys.argv) > 1 else ""
    if group not in GROUPS:
        sys.exit(f"groups: {', '.join(GROUPS)}")
    calls, wait = calls_of_jax() if group == "jax" else calls_of_cupy() if group == "cupy" else calls_of_torch(group)
    unknown = [name for name in sys.argv[2:] if name not in calls]
    if unknown:
        sys.exit(f"no call {unknown[0]!r} in {group}: {', '.join(calls)}")
    chosen = {name: calls[name] for name in sys.argv[2:] or calls}
    ran = 0
    for name, call in chosen.items():
        try:
            call()
            wait()
            ran += 1
        except Exception as error:  # a kernel that this build does not have
            print(f"left out {group} {name}: {str(error).splitlines()[0][:100] if str(error) else type(error).__name__}")
    print(f"{group}: ran {ran} of {len(chosen)}")


main()
