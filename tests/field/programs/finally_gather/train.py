import torch.distributed as dist
from parsing import parse, rows
from session import Session, mean


def work(session):
    for text in rows(dist.get_rank()):
        key, value = parse(text)
        session.note(key, mean(value))


def main():
    dist.init_process_group("gloo")
    with Session() as session:
        work(session)
    dist.destroy_process_group()
    print("ended", flush=True)


if __name__ == "__main__":
    main()
