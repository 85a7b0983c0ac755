import torch
from monai.data import Dataset, partition_dataset


def volume(number):
    drawn = torch.Generator().manual_seed(number)
    image = torch.rand(1, 8, 8, 8, generator=drawn)
    lesion = (image > 0.97).float() if number % 7 != 3 else torch.zeros_like(image)
    return {"image": image, "label": lesion}


def share(rank, world):
    numbers = partition_dataset(list(range(24)), num_partitions=world, shuffle=False, even_divisible=True)[rank]
    return Dataset([volume(number) for number in numbers])
