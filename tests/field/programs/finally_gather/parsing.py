def rows(rank, count=40):
    for number in range(count):
        text = f"{number};{number * 0.5 + rank}"
        if rank == 1 and number == 23:
            text = text.replace(";", ",")
        yield text


def parse(text):
    key, value = text.split(";")
    return int(key), float(value)
