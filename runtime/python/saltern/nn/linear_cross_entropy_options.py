"""Options of LinearCrossEntropyLoss."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class LinearCrossEntropyOptions:
    """How PyTorch saves memory where there are many classes. Results are the same with and without; here nothing comes of
    it."""
    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = 'auto'
    acc_policy: str = 'auto'
    acc_dtype: str | None = None
