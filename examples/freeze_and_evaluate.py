"""Learn, then score with learning off: what comes next, what was just seen, what was seen first.

python examples/freeze_and_evaluate.py
"""

from sharpstream import Counts, CountsConfig, open_stream, score

stream = open_stream("python-docs")  # Python's own help pages as 27 letters: no download
learner = Counts(CountsConfig(order=4, accuracy=True), vocabulary=stream.vocabulary)
text = stream.take(60_000)
learner.learn(text)

before = learner.state_dict()
probes = {"forward": stream.take(5_000), "current": text[-5_000:], "backward": text[:5_000]}
for name, tokens in probes.items():
    found = score(learner, tokens)
    print(f"{name:9} {found.bits:.3f} bits a character, {found.accuracy:.1%} guessed right")
after = learner.state_dict()
unchanged = all((before[name] == after[name]).all() for name in before)
print("the learner is", "as it was" if unchanged else "CHANGED")
