"""The training loop."""

import logging
import time

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import parallel
from checkpoint import Checkpointer
from data import training_loader, validation_loader
from evaluate import evaluate
from metrics import Meters
from model import Classifier

log = logging.getLogger("trainer")


class Trainer:
    def __init__(self, config):
        self.config = config
        torch.manual_seed(parallel.agree_on_seed(config.seed))
        self.model = DistributedDataParallel(Classifier())
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=config.learning_rate, momentum=0.9)
        self.loss_fn = nn.CrossEntropyLoss()
        self.meters = Meters()
        self.checkpoints = Checkpointer(config.output)
        self.train_loader = training_loader(config, parallel.rank())
        self.valid_loader = validation_loader(config, parallel.rank())
        self.step = 0
        self.best = float("inf")
        self.bad_rounds = 0
        self.started = time.monotonic()

    def fit(self):
        for epoch in range(self.config.epochs):
            log.info("epoch %d begins", epoch)
            self.run_epoch()
            if self.out_of_patience():
                log.info("no progress for %d rounds, stopping", self.bad_rounds)
                break
        log.info("training finished after %d steps", self.step)

    def run_epoch(self):
        for tokens, labels in self.train_loader:
            loss = self.train_step(tokens, labels)
            self.step += 1
            self.meters.update(loss=loss)
            if self.step % self.config.log_every == 0:
                self.report()
            if self.step % self.config.eval_every == 0:
                self.validate()
            if self.step % self.config.save_every == 0:
                self.checkpoints.save(self.step, self.model, self.optimizer)

    def train_step(self, tokens, labels):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss_fn(self.model(tokens), labels)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.item()

    def report(self):
        means = self.meters.synchronise()
        self.meters.reset()
        pace = self.step / (time.monotonic() - self.started)
        log.info("step %d loss %.4f (%.1f steps/s)", self.step, means["loss"], pace)

    def validate(self):
        result = evaluate(self.model, self.valid_loader, self.loss_fn)
        log.info("step %d validation loss %.4f accuracy %.3f", self.step, result["loss"], result["accuracy"])
        if result["local_loss"] < self.best - 1e-4:
            self.best, self.bad_rounds = result["local_loss"], 0
        else:
            self.bad_rounds += 1

    def out_of_patience(self):
        return self.bad_rounds >= self.config.patience
