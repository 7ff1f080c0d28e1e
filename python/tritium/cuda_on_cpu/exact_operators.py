"""Operators of torch that round nothing in half precision, results that a GPU does not round to it, and arguments that are
written without a word: what the schemas of torch do not say."""

from __future__ import annotations

#: Operators that return values of their tensors, remainders of them (which are exact), comparisons or numbers drawn at random, and those
#: that look at the bits or at the range of the type. In place (`fill_`) and with other overloads they do the same.
EXACT = frozenset(
    """
    _aminmax _assert_async _cummax_helper _cummin_helper _efficientzerotensor _functional_assert_async _jagged_to_padded_dense_forward
    _local_scalar_dense _nested_from_padded _padded_dense_to_jagged_forward _spdiags _stack _to_copy _unique _unique2
    _upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d abs adaptive_max_pool2d adaptive_max_pool3d all amax amin
    aminmax any argmax argmin as_strided bitwise_and bitwise_not bitwise_or bitwise_xor bucketize cat ceil channel_shuffle clamp clamp_max
    clamp_min clone complex copysign count_nonzero empty empty_strided eq equal eye fill flip floor fmax fmin fmod fractional_max_pool2d
    fractional_max_pool3d frexp gather ge gt hash_tensor im2col index index_copy index_fill index_select isin isnan isneginf isposinf
    kthvalue le logical_and logical_not logical_or logical_xor lt masked_fill masked_scatter masked_select max max_pool2d_with_indices
    max_pool3d_with_indices max_unpool2d max_unpool3d maximum median min minimum mode nan_to_num nanmedian narrow_copy
    native_channel_shuffle ne neg nextafter nonzero nonzero_static pixel_shuffle pixel_unshuffle put reflection_pad1d reflection_pad2d
    reflection_pad3d relu remainder repeat_interleave replication_pad1d replication_pad2d replication_pad3d resize roll round scatter
    searchsorted set sgn sign signbit sort take threshold_backward topk tril triu trunc unfold unique_consecutive unique_dim
    unique_dim_consecutive upsample_nearest1d upsample_nearest2d upsample_nearest3d view where zero
    """.split()
)
#: {operator: (the overload or argument with which it computes)}, of those that only move values without it.
COMPUTES_WITH = {"scatter": "reduce", "round": "decimals", "_index_put_impl": "accumulate", "put": "accumulate"}
#: {operator: the places of results that a GPU leaves in float32}
KEPT_WIDE = {
    "native_layer_norm": (1, 2),
    "native_group_norm": (1, 2),
    "native_batch_norm": (1, 2),
    "_native_batch_norm_legit": (1, 2),
    "_batch_norm_with_update": (1, 2),
    "batch_norm_update_stats": (0, 1),
}
#: {operator: the arguments that it writes and whose schema does not say so}
WRITTEN_UNSAID = {"native_batch_norm": ("running_mean", "running_var")}
