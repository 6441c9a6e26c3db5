"""The episodic learner in NumPy, one idea a function: the oracle that the kernels of `learners/episodic` must equal.

The inputs of the mixers are one matrix here, (inputs, candidates), where the kernels keep only what is not 0. Settings,
contexts and first values are the learner's own; everything computed is written anew. It is float64 and slow.
"""

import math
from collections import defaultdict
from typing import Any

import numpy as np
import numpy.typing as npt

from sharpstream.config import EpisodicConfig
from sharpstream.kernels.lanes import LANES
from sharpstream.learners import episodic_arrays as arrays
from sharpstream.learners import episodic_learn as learn
from sharpstream.learners.contract import Bits, Tokens
from sharpstream.learners.episodic import RATE_VALUES
from sharpstream.learners.episodic_read import FLOOR, SEEN_FRESH
from sharpstream.learners.episodic_tail import make_tail
from sharpstream.memory.episodic_contexts import BACK, POSITION
from sharpstream.memory.episodic_slots import WAYS
from sharpstream.pattern import episodic_escape as escape
from sharpstream.pattern import episodic_mean as mean
from sharpstream.pattern import episodic_states as states
from sharpstream.pattern.episodic_mixers import FINALS
from sharpstream.pattern.episodic_selectors import FINAL_LANES, SIZES, STARTS, choose_rows, match_level
from sharpstream.reference.episodic_memory import Bucket, Match, Past, Slot, empty_bucket
from sharpstream.reference.episodic_network import Network, slower
from sharpstream.reference.episodic_numbers import Array, adagrad, log_softmax
from sharpstream.reference.episodic_options import SlowLevel, TagStore, kept_slot, sweep
from sharpstream.reference.episodic_residual import Residual, Spoken


class ReferenceEpisodic:
    """predict and observe, token by token."""

    def __init__(self, config: EpisodicConfig, vocabulary: int, *, seed: int = 0) -> None:
        self.config, self.vocabulary = config, vocabulary
        self.contexts = arrays.contexts_of(config, vocabulary)
        self.tail = make_tail(config, vocabulary)  # has a plain twin of its own in tests/learners/test_counts.py
        self.layout = arrays.make_memory(config, vocabulary, self.tail)  # sizes only: the slots live in dictionaries
        self.most, self.now = arrays.most_candidates(vocabulary), 0
        models = len(self.layout.least)
        made = arrays.make_pattern(config, vocabulary, len(self.contexts), models, seed, self.tail is not None)
        self.pattern = {name: array.astype(np.float64) for name, array in made._asdict().items()}
        p, inputs = self.pattern, 3 * len(self.contexts) + models + arrays.DENSE
        p["weights"], p["squares"] = p["weights"].reshape(-1, inputs), p["squares"].reshape(inputs, LANES).T
        p["finals"], p["final_squares"] = p["finals"].reshape(-1, LANES), p["final_squares"].reshape(FINALS, LANES)
        for name in ("states", "match_states", "corrections"):
            p[name] = p[name].reshape(-1, 2)
        p["escape_weights"] = p["escape_weights"].reshape(len(self.contexts) + 1, -1)
        size = self.layout.ring.size // (2 if vocabulary > 256 else 1)
        self.past = Past(self.layout.kinds.tolist(), self.layout.folded.tolist())
        self.matches = [Match(int(least), self.layout.places.shape[1], size) for least in self.layout.least]
        self.read: list[int] = []
        self.buckets: dict[tuple[int, int], Bucket] = defaultdict(empty_bucket)
        self.slow = SlowLevel(config) if config.slow and config.network else None
        self.network = Network(config, vocabulary, p, self.slow) if config.network else None
        second = Residual(p["residual_states"], p["residual_rows"], len(self.contexts)) if config.residual else None
        self.second = second
        self.tags = TagStore(config)
        self.step = 1.0  # of mixers and network: asleep another one
        self.looks: list[dict[str, Array]] = []  # at what frozen passes read the mean of

    # ---- predicting -------------------------------------------------------------------------------------------------

    def predict(self) -> npt.NDArray[np.float64]:
        """The whole distribution, (V,)."""
        self._look_up()
        candidates = self.candidates
        self.tail_row = np.zeros(self.vocabulary) if self.tail is None else self.tail.predict()
        row = np.zeros(self.vocabulary)
        if len(candidates):
            self._read_states()
            self._read_matches()
            self._gather_inputs()
            self._mix()
            row[candidates] = self.blended
        if self.most != self.vocabulary:
            row *= 1.0 - self._escape_probability()
            others = np.setdiff1d(np.arange(self.vocabulary), candidates)
            row[others] = self.escape_p * (self.pattern["parts"] @ self._shares()[:, others])
        return (1.0 - FLOOR) * row + FLOOR / self.vocabulary

    def _look_up(self) -> None:
        """Each context's slot, and which symbols are candidates."""
        self.address = [
            self.past.address(k, context.features, int(self.layout.buckets[k]))
            for k, context in enumerate(self.contexts)
        ]
        self.slots: list[Slot | None] = [
            self.buckets[k, bucket].find(check) for k, (bucket, check) in enumerate(self.address)
        ]
        self.expected = [self.read[match.place] if match.place >= 0 else -1 for match in self.matches]
        self.dropped = 0.0
        if self.most == self.vocabulary:
            self.candidates = np.arange(self.vocabulary)
        else:
            self._choose_candidates()
        self.place_of = {int(symbol): c for c, symbol in enumerate(self.candidates)}

    def _choose_candidates(self) -> None:
        scores: dict[int, float] = {}
        for slot in self.slots:
            for symbol, count in slot.pairs if slot else []:
                scores[symbol] = scores.get(symbol, 0.0) + count * (1.0 / (slot.total + slot.distinct))  # type: ignore[union-attr]
        for symbol in self.expected:
            if symbol >= 0:
                scores[symbol] = scores.get(symbol, 0.0) + 1.0
        kept = sorted(scores, key=lambda symbol: -scores[symbol])[: self.most]  # of equals the first proposed
        self.dropped = float(sum(score for symbol, score in scores.items() if symbol not in set(kept)))
        self.candidates = np.array([symbol for symbol in scores if symbol in set(kept)], dtype=np.int64)

    def _entries(self, k: int, count: int, recency: int, parent: Slot | None, symbol: int) -> list[int]:
        """The three table entries of a symbol in context k; count 0 is every absent symbol."""
        slot, age = self.slots[k], (self.now - self.slots[k].time) & 0xFFFFFFFF  # type: ignore[union-attr]
        assert slot is not None
        beside = -1 if parent is None else sum(n for s, n in parent.pairs if s == symbol) if count else 0
        level = min(age.bit_length(), states.AGES - 1)
        return [
            int(states.own_entry(k, slot.total, slot.distinct, count, recency)),
            int(states.beside_entry(k, slot.total, slot.distinct, count, beside)),
            int(states.aged_entry(k, level, slot.distinct, count, recency + 1 if count else 0)),
        ]

    def _read_states(self) -> None:
        """Per context: its pairs among the candidates, their entries, values and own probabilities."""
        table = self.pattern["states"]
        self.spoken: dict[int, Spoken] = {}
        for k, slot in enumerate(self.slots):
            if slot is None:
                continue
            above = int(self.layout.parent[k])
            parent = self.slots[above] if above >= 0 else None
            pairs = [(i, s, n) for i, (s, n) in enumerate(slot.pairs) if s in self.place_of]
            entries = [self._entries(k, n, min(i, 2), parent, s) for i, s, n in pairs]
            absent = self._entries(k, 0, 0, parent, -1)
            value = np.array([table[e, 0].sum() - table[absent, 0].sum() for e in entries])
            value = np.clip(value, -states.STEEPEST, states.STEEPEST) * self.config.states
            power = np.exp(value) * self.config.states
            own = power / (power.sum() + len(self.candidates) - len(pairs)) if self.config.states else power
            places, counts = [self.place_of[s] for _, s, _ in pairs], [n for *_, n in pairs]
            self.spoken[k] = Spoken(places, counts, entries, absent, value, own)

    def _read_matches(self) -> None:
        self.match_entry = []
        for m, match in enumerate(self.matches):
            recent = (match.misses & 1) * 2 + int(match.misses & 14 != 0)
            self.match_entry.append(m * arrays.MATCH_STATES + int(match_level(match.length)) * 4 + recent)

    def _gather_inputs(self) -> None:
        """X (inputs, candidates): per context log count, value, own probability; matches; unigram, network."""
        contexts, p = len(self.contexts), self.pattern
        x = np.zeros((p["weights"].shape[1], len(self.candidates)))
        for k, (places, counts, _, _, value, own) in self.spoken.items():
            x[3 * k, places] = np.log1p(np.array(counts) / 0.3)
            x[3 * k + 1, places], x[3 * k + 2, places] = value, own
        for m, symbol in enumerate(self.expected):
            if symbol in self.place_of:
                x[3 * contexts + m, self.place_of[symbol]] = p["match_states"][self.match_entry[m], 0]
        dense = 3 * contexts + len(self.matches)
        total = p["sums"][0] + escape.UNIGRAM_FRESH * self.vocabulary
        x[dense] = np.log((p["unigram"][self.candidates] + escape.UNIGRAM_FRESH) / total)
        if self.network:
            x[dense + 1] = self.network.run(self.network.rows_of(self.past), self.candidates)
        if self.tail is not None:
            x[dense + 3] = np.log(self.tail_row[self.candidates])
            x[dense + 4] = np.log(p["lately"][self.candidates] + SEEN_FRESH)
        self.x, self.residual = x, self._residual()

    def _residual(self) -> Array:
        """One logit a candidate, before all mixers."""
        if self.second is None:
            return np.zeros(len(self.candidates))
        addresses = [(self._bucket_place(k, bucket), check) for k, (bucket, check) in enumerate(self.address)]
        return self.second.read(addresses, list(self.spoken.values()) if self.config.states else [], self.candidates)

    def _bucket_place(self, k: int, bucket: int) -> int:
        """Where the kernels keep a bucket."""
        return int(self.layout.first[k] + bucket * self.layout.bucket_size[k])

    def _mix(self) -> None:
        """Which weights, then what they make of the inputs."""
        self._choose_rows()
        self._mix_chosen()

    def _mix_chosen(self) -> None:
        """Mixers, final mixers, corrections."""
        p = self.pattern
        self.logp = log_softmax(p["weights"][self.rows] @ self.x + self.residual)  # (LANES, C)
        finals = log_softmax(p["finals"][self.final_rows] @ self.logp)  # (FINALS, C)
        self.final_p, self.total = np.exp(finals), log_softmax(finals.mean(axis=0))
        self.blended = np.exp(self.total)
        if self.config.corrections:
            base = 0 if not self.config.selectors else int(self.rows[1] - STARTS[1])
            level = np.minimum(np.maximum(-self.total * 2.0, 0.0), arrays.CORRECTION_LEVELS - 1.0).astype(int)
            self.correction = base * arrays.CORRECTION_LEVELS + level
            self.corrected = np.exp(log_softmax(self.total + p["corrections"][self.correction, 0]))
            self.blended = 0.5 * (self.blended + self.corrected)
        self.blended = self.blended / self.blended.sum()

    def _choose_rows(self) -> None:
        """The rows of the weights; the selectors themselves are integers, and the learner's own."""
        slots, matches = self.slots, zip(self.matches, self.expected, strict=True)
        longest, expected = max(
            ((m.length, e) for m, e in matches if e >= 0), key=lambda pair: pair[0], default=(0, -1)
        )
        ages = [
            0 if s is None else min(((self.now - s.time) & 0xFFFFFFFF).bit_length(), states.AGES - 1) for s in slots
        ]
        self.rows = np.zeros(LANES, dtype=np.int64)
        choose_rows(
            np.array(self.past.recent), np.array(self.past.features, dtype=np.uint64), BACK,
            self.past.features[POSITION], self.layout.roles, np.array([s.total if s else 0 for s in slots]),
            np.array([s.distinct if s else 0 for s in slots]), np.array([s.pairs[0][0] if s else -1 for s in slots]),
            np.array(ages), longest, expected, self.vocabulary, self.rows,
        )  # fmt: skip
        starts = np.cumsum([0, *(SIZES[lane] for lane in FINAL_LANES)])
        self.final_rows = [
            int(start + self.rows[lane] - STARTS[lane]) for start, lane in zip(starts, FINAL_LANES, strict=False)
        ]
        if not self.config.selectors:
            self.rows[:], self.final_rows = np.arange(LANES), [0] * FINALS

    def _escape_probability(self) -> float:
        p, contexts = self.pattern, len(self.contexts)
        self.cells = {
            k: int(escape.escape_cell(k, slot.total, slot.distinct)) for k, slot in enumerate(self.slots) if slot
        }
        x = np.zeros(contexts + escape.EXTRA)
        for k, cell in self.cells.items():
            x[k] = math.log(p["cells"][cell] / (1.0 - p["cells"][cell]))
        count = len(self.candidates)
        x[contexts:] = (
            0.3 * math.log((self.vocabulary - count + 0.5) / (count + 0.5)),
            math.log(self.dropped + 0.01),
            0.3,
            self._stretched_left(),
        )
        logit = float(np.clip(p["escape_weights"][len(self.cells)] @ x, -escape.SURE, escape.SURE))
        level = int((logit + escape.SURE) / (2.0 * escape.SURE) * (escape.LEVELS - 1) + 0.5)
        self.escape_x, self.escape_logit, self.escape_level = x, logit, level
        mixed = 0.5 * (1.0 / (1.0 + math.exp(-logit)) + float(p["escape_correction"][level]))
        self.escape_p = mixed if count else 1.0
        return self.escape_p

    def _stretched_left(self) -> float:
        """The logit of what the tail gives to all that are no candidates; 0 where it says nothing of them."""
        left = max(1.0 - float(self.tail_row[self.candidates].sum()), 1e-6)
        return 0.0 if self.tail is None or left >= 1.0 else math.log(left / (1.0 - left))

    def _shares(self) -> Array:
        """(5, V): unigram, escaped before, uniform, tail and seen lately, normalised over what is not a candidate."""
        fresh, p = escape.UNIGRAM_FRESH, self.pattern
        lately = p["lately"] + escape.LATELY_FRESH
        parts = np.stack([p["unigram"] + fresh, p["escapes"] + fresh, np.ones(self.vocabulary), self.tail_row, lately])
        outside = np.ones(self.vocabulary, dtype=bool)
        outside[self.candidates] = False
        return np.asarray(parts / np.maximum(parts[:, outside].sum(axis=1, keepdims=True), 1e-12))

    # ---- learning ---------------------------------------------------------------------------------------------------

    def observe(self, token: int) -> float:
        bits = -math.log2(self.predict()[token])
        target = self.place_of.get(token, -1)
        if self.most != self.vocabulary:
            self._learn_escape(token, target < 0)
        if self.tail is not None:
            self.pattern["lately"] /= 1.0 + escape.FADE
            self.pattern["lately"][token] += 1.0
        self.pattern["unigram"][token] += 1.0
        self.pattern["sums"][0] += 1.0
        if target >= 0:
            truth = np.eye(len(self.candidates))[target]
            self._learn_mixers(truth)
            if self.second:
                self.second.learn(self.blended - truth)
            self._learn_states(truth)
            if self.network:
                self.network.learn(truth, self.now, self.step)
        for k, (bucket, check) in enumerate(self.address):
            slot = self.slots[k] or self._new_slot(k, bucket, check, token)
            if slot is not None:
                slot.count(token, int(self.layout.capacity[k]), int(self.layout.limit[k]), self.now + 1)
        if self.tail is not None:
            self.tail.observe(token)
        if self.config.keeping == "swept" and (self.now + 1) % self.config.sweep_every == 0:
            sweep(self.buckets, (self.layout.buckets * WAYS).tolist(), self.now + 1)
        if self.config.replay != "none" and target >= 0:
            self._tag(bits, truth)
        self.past.take(token)
        self.read.append(token)
        for match in self.matches:
            match.follow(self.read, self.past.recent)
        if self.config.replay not in ("none", "again") and (self.now + 1) % self.config.replay_every == 0:
            for tag in self.tags.drawn(self.now):
                self._learn_again(tag)
        if self.slow:
            self.slow.step(self.past.recent, slower(self.now) * RATE_VALUES[learn.SLOW])
        self.now += 1
        if self.config.mean_every and self.now % self.config.mean_every == 0:
            self.looks.append({name: np.array(self.pattern[name]) for name in mean.MEANS})
        return bits

    def means(self) -> dict[str, Array]:
        """Mixers and network as a frozen pass reads them.

        Look n takes the share (1 + a) / (n + a) of the mean; the earlier ones keep what the later leave of theirs.
        """
        shares = [(1.0 + mean.LATER) / (n + mean.LATER) for n in range(1, len(self.looks) + 1)]
        kept = [share * np.prod([1.0 - later for later in shares[n:]]) for n, share in enumerate(shares, start=1)]
        return {name: sum(w * look[name] for w, look in zip(kept, self.looks, strict=True)) for name in mean.MEANS}

    def _new_slot(self, k: int, bucket: int, check: int, token: int) -> Slot | None:
        """As the house-keeping rule has it; None: the context is not let in."""
        above = int(self.layout.parent[k])
        parent = self.slots[above] if above >= 0 else None
        said = parent is not None and parent.distinct == 1 and parent.pairs[0][0] == token
        number = self._bucket_place(k, bucket)
        slots = int(self.layout.buckets[k]) * WAYS
        return kept_slot(self.buckets[k, bucket], check, self.config.keeping, self.now + 1, slots, number, said)

    def _tag(self, bits: float, truth: Array) -> None:
        """Keep what was mixed for sleep, or learn from it again at once."""
        names = ("x", "rows", "final_rows", "candidates", "residual")
        tag = {name: getattr(self, name) for name in names} | {"truth": truth}
        tag["network_rows"] = self.network.rows if self.network else []
        if self.config.replay != "again":
            self.tags.take(bits, tag)
        elif (
            self.now * self.config.replays // self.config.replay_every
            != (self.now + 1) * self.config.replays // self.config.replay_every
        ):
            self._learn_again(tag)

    def _learn_again(self, tag: dict[str, Any]) -> None:
        """One more step of mixers and network from inputs as they were."""
        for name, value in tag.items():
            setattr(self, name, value)
        self.step = self.config.replay_step
        if self.config.replay_into != "network":
            self._mix_chosen()
            self._learn_mixers(tag["truth"])
        if self.config.replay_into != "mixers" and self.network:
            self.network.run(tag["network_rows"], self.candidates)
            self.network.learn(tag["truth"], self.now, self.step)
        self.step = 1.0

    def learn(self, tokens: Tokens) -> Bits:
        return np.array([self.observe(int(token)) for token in tokens])

    def _learn_mixers(self, truth: Array) -> None:
        p, r = self.pattern, RATE_VALUES
        if self.config.corrections:
            for entry, gradient in zip(self.correction, self.corrected - truth, strict=True):
                adagrad(self.pattern["corrections"], entry, gradient, self.step * r[learn.CORRECT], 1e-6)
        keep = r[learn.MIX_KEEP]
        rate = max(r[learn.FINAL_FLOOR], r[learn.FINAL] / math.sqrt(1.0 + self.now / r[learn.FINAL_TIME]))
        gradient = (self.final_p - truth) @ self.logp.T  # (FINALS, LANES)
        p["final_squares"][:] = keep * p["final_squares"] + (1.0 - keep) * gradient**2
        for f, row in enumerate(self.final_rows):
            p["finals"][row] -= self.step * rate * gradient[f] / np.sqrt(p["final_squares"][f] + 1e-12)
        rate = max(r[learn.MIX_FLOOR], r[learn.MIX] / math.sqrt(1.0 + self.now / r[learn.MIX_TIME]))
        gradient = (np.exp(self.logp) - truth) @ self.x.T  # (LANES, inputs)
        p["squares"][:] = keep * p["squares"] + (1.0 - keep) * gradient**2
        for m, row in enumerate(self.rows.tolist()):
            p["weights"][row] -= self.step * rate * gradient[m] / np.sqrt(p["squares"][m] + 1e-12)

    def _learn_states(self, truth: Array) -> None:
        rate = RATE_VALUES[learn.STATE]
        if self.config.states:
            for places, _, entries, absent, _, own in self.spoken.values():
                gradient = own - truth[places]
                for three, g in zip(entries, gradient, strict=True):
                    for entry in three:
                        adagrad(self.pattern["states"], entry, g, rate)
                for entry in absent:
                    adagrad(self.pattern["states"], entry, -float(gradient.sum()), rate)
        for m, symbol in enumerate(self.expected):
            if symbol in self.place_of:
                table, entry = self.pattern["match_states"], self.match_entry[m]
                grown = math.exp(table[entry, 0])
                g = grown / (grown + len(truth) - 1.0) - truth[self.place_of[symbol]]
                adagrad(self.pattern["match_states"], entry, g, rate)
                table[entry, 0] = np.clip(table[entry, 0], -states.STEEPEST, states.STEEPEST)

    def _learn_escape(self, token: int, escaped: bool) -> None:
        p, r = self.pattern, RATE_VALUES
        error = float(escaped) - 1.0 / (1.0 + math.exp(-self.escape_logit))
        p["escape_weights"][len(self.cells)] += r[learn.ESCAPE] * error * self.escape_x
        for cell in self.cells.values():
            moved = p["cells"][cell] + r[learn.ESCAPE_CELL] * (float(escaped) - p["cells"][cell])
            p["cells"][cell] = min(max(moved, 1e-5), 1.0 - 1e-5)
        correction, level = p["escape_correction"], self.escape_level
        correction[level] += r[learn.ESCAPE_CORRECT] * (float(escaped) - correction[level])
        correction[level] = min(max(correction[level], 1e-6), 1.0 - 1e-6)
        if escaped:
            expected = p["parts"] * self._shares()[:, token]
            there = p["parts"] > 0.0
            p["parts"] += r[learn.SHARE] * (expected / expected.sum() - p["parts"])
            p["parts"] = np.maximum(p["parts"], escape.LEAST_PART) * there
            p["parts"] /= p["parts"].sum()
            p["escapes"][token] += 1.0
            p["sums"][1] += 1.0
