"""torch.distributed: the collectives themselves, groups, meshes, object collectives, functional collectives."""

from .entry import OWN_NUMBER, Sanitiser, Source, Table

_D = "torch.distributed"
_MESH = f"{_D}.device_mesh.DeviceMesh"
_F = f"{_D}._functional_collectives"
_RANK = Source("rank_api", OWN_NUMBER, group=True)

_TENSOR = [
    "all_reduce",
    "all_reduce_coalesced",
    "broadcast",
    "reduce",
    "all_gather",
    "all_gather_into_tensor",
    "_all_gather_base",
    "gather",
    "scatter",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "_reduce_scatter_base",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "monitored_barrier",
    "all_gather_object",
    "gather_object",
    "broadcast_object_list",
    "scatter_object_list",
]
_POINT_TO_POINT = [
    "send",
    "recv",
    "isend",
    "irecv",
    "batch_isend_irecv",
    "send_object_list",
    "recv_object_list",
]
_GROUPS = [
    "init_process_group",
    "destroy_process_group",
    "new_group",
    "new_subgroups",
    "new_subgroups_by_enumeration",
]

_GROUP_AT = {
    **dict.fromkeys(("barrier", "monitored_barrier"), 0),
    **dict.fromkeys(("all_reduce", "broadcast", "all_gather", "all_gather_into_tensor", "all_to_all"), 2),
    **dict.fromkeys(("_all_gather_base", "all_gather_object", "broadcast_object_list"), 2),
    **dict.fromkeys(("reduce", "gather", "scatter", "reduce_scatter", "reduce_scatter_tensor"), 3),
    **dict.fromkeys(("gather_object", "scatter_object_list", "_reduce_scatter_base"), 3),
    "all_to_all_single": 4,
}

#: What each member gets of its own, and the argument that holds it afterwards.
_OWN_SHARE: dict[str, tuple[int | str, ...]] = {
    **dict.fromkeys(("recv", "irecv"), (0, "tensor")),
    "recv_object_list": (0, "object_list"),
    "scatter": (0, "tensor"),
    "scatter_object_list": (0, "scatter_object_output_list"),
    **dict.fromkeys(("reduce_scatter", "reduce_scatter_tensor", "all_to_all_single"), (0, "output")),
    "all_to_all": (0, "output_tensor_list"),
}

TABLE = Table(
    sources={
        f"{_D}.get_rank": _RANK,
        f"{_D}.get_node_local_rank": Source("rank_api", "the rank's number on its node"),
        f"{_D}.get_group_rank": Source("rank_api", "the rank's number in a group"),
        f"{_MESH}.get_local_rank": Source("rank_api", "the rank's place in the mesh", along="mesh_dim"),
        f"{_MESH}.get_rank": Source("rank_api", OWN_NUMBER),
        f"{_MESH}.get_coordinate": Source("rank_api", "the rank's place in the mesh", along="*"),
        f"{_D}.ProcessGroup.rank": Source("rank_api", "the rank's number in a group"),
        f"{_D}.ProcessGroup.group_rank": Source("rank_api", "the rank's number in a group"),
    },
    sanitisers={
        f"{_D}.all_reduce": Sanitiser(in_place=(0, "tensor"), group=(2, "group")),
        f"{_D}.all_reduce_coalesced": Sanitiser(in_place=(0, "tensors"), group=(2, "group")),
        f"{_D}.broadcast": Sanitiser(in_place=(0, "tensor"), group=(2, "group")),
        f"{_D}.broadcast_object_list": Sanitiser(in_place=(0, "object_list"), group=(2, "group")),
        f"{_D}.all_gather": Sanitiser(in_place=(0, "tensor_list"), group=(2, "group")),
        f"{_D}.all_gather_into_tensor": Sanitiser(in_place=(0, "output_tensor"), group=(2, "group")),
        f"{_D}._all_gather_base": Sanitiser(in_place=(0, "output_tensor"), group=(2, "group")),
        f"{_D}.all_gather_object": Sanitiser(in_place=(0, "object_list"), group=(2, "group")),
        f"{_D}.nn.functional.all_reduce": Sanitiser(returned=True, group=(2, "group")),
        f"{_D}.nn.functional.all_gather": Sanitiser(returned=True, group=(1, "group")),
        f"{_D}.nn.functional.broadcast": Sanitiser(returned=True, group=(2, "group")),
        f"{_F}.all_reduce": Sanitiser(returned=True, group=(2, "group")),
        f"{_F}.all_gather_tensor": Sanitiser(returned=True, group=(2, "group")),
        f"{_F}.broadcast": Sanitiser(returned=True, group=(2, "group")),
    },
    fills={f"{_D}.{op}": (places, ()) for op, places in _OWN_SHARE.items()},
    collectives={
        **{f"{_D}.{op}": f"{op} on the group" for op in _TENSOR},
        **{f"{_D}.{op}": f"{op} with the peer" for op in _POINT_TO_POINT},
        **{f"{_D}.{op}": f"{op} is for all ranks of the job, members or not" for op in _GROUPS},
        f"{_D}.device_mesh.init_device_mesh": "init_device_mesh makes groups on all ranks of the job",
        f"{_D}.nn.functional.all_reduce": "all_reduce on the group, in forward and backward",
        f"{_D}.nn.functional.all_gather": "all_gather on the group, and its reverse in backward",
        f"{_D}.nn.functional.all_to_all": "all_to_all on the group, in forward and backward",
        f"{_F}.all_reduce": "all_reduce on the group",
        f"{_F}.all_gather_tensor": "all_gather on the group",
        f"{_F}.reduce_scatter_tensor": "reduce_scatter on the group",
        f"{_F}.all_to_all_single": "all_to_all on the group",
    },
    perhaps=frozenset({f"{_D}.destroy_process_group"}),
    pairwise=frozenset(f"{_D}.{op}" for op in _POINT_TO_POINT),
    group_at={f"{_D}.{op}": place for op, place in _GROUP_AT.items()},
    makes={f"{_D}.device_mesh.init_device_mesh": _MESH},
    uniform=frozenset(
        {
            f"{_D}.get_world_size",
            f"{_D}.is_initialized",
            f"{_D}.is_available",
            f"{_D}.get_backend",
            f"{_D}.ReduceOp",
            f"{_MESH}.size",
            f"{_MESH}.ndim",
            f"{_MESH}.shape",
            f"{_MESH}.mesh_dim_names",
            f"{_D}.is_nccl_available",
            f"{_D}.is_gloo_available",
        }
    ),
    aliases={
        "torch.distributed.distributed_c10d": _D,
        "torch.distributed.c10d": _D,
        "torch.distributed.DeviceMesh": _MESH,
        "torch.distributed.tensor.DeviceMesh": _MESH,
        "torch.distributed.init_device_mesh": f"{_D}.device_mesh.init_device_mesh",
        "torch.distributed.tensor.init_device_mesh": f"{_D}.device_mesh.init_device_mesh",
    },
    internals={
        "_get_store_timeout": "reads the job's store",
        "_store_based_barrier": "waits for all ranks at the store",
        "_new_group_with_tag": "new_group is for all ranks of the job, members or not",
    },
)
