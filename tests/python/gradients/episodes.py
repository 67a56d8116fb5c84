"""What environments return under given actions, and its derivatives beside differences."""

import numpy as np

B, WIDTH = 8, 1e-6


class Given:
    """Actions that are weights: one for all environments."""

    def __call__(self, obs, w, rng):
        return {"action": w.a}


GIVEN = Given()


class Episode:
    """Steps from one state under given actions (T, m), J = sum of weighted rewards and of weighted last observations."""

    def __init__(self, task, T, before, dtype="float64"):
        self.env = task.batch(B, seed=1, dtype=dtype)
        self.env.reset(seed=3)
        self.rng = np.random.default_rng(0)
        self.actions = 0.4 * self.rng.uniform(-1, 1, (T, self.env.recording.actions))
        for _ in range(before):
            self.env.step(np.repeat(0.4 * self.rng.uniform(-1, 1, (1, self.actions.shape[1])), B, 0))
        self.begun = self.env.snapshot()
        group = "actor" if "actor" in self.env.groups else next(iter(self.env.groups))
        self.group, n = group, self.env.groups[group]
        self.by_reward, self.by_last = self.rng.normal(size=(T, B)), self.rng.normal(size=(B, n))

    def collected(self, actions, keep=False):
        """What each step gives, and the same with all of them one behind the other."""
        self.env.restore(self.begun)
        parts = [self.env.collect(1, GIVEN, {"a": a}, True, keep) for a in actions]
        joined = {
            name: np.concatenate([getattr(g, name) for g in parts])
            for name in ("actions", "reward", "terminated", "truncated")
        }
        kept = {name: np.concatenate([g.kept[name][:1] for g in parts]) for name in parts[0].kept or {}}
        return parts[-1]._replace(**joined, kept=kept or None)

    def last(self, got):
        """The last observation: that of the end where an episode ended."""
        x = [o[self.group] if isinstance(o, dict) else o for o in (got.observations, got.final_observations)]
        ended = (got.terminated | got.truncated)[-1][:, None]
        return np.where(ended, x[1][-1], x[0][-1])

    def J(self, actions, seen):
        got = self.collected(actions)
        return (self.by_reward * got.reward).sum(0) + (seen * self.by_last * self.last(got)).sum(1), got

    def gradients(self, seen):
        got = self.collected(self.actions, keep=True)
        back, found = self.env.pull_back(got), np.zeros((*self.actions.shape, B))
        last = seen * self.by_last
        if set(self.env.groups) != {""}:
            last = {name: last if name == self.group else np.zeros((B, n)) for name, n in self.env.groups.items()}
        for t in reversed(range(len(self.actions))):
            by = (last, last) if t + 1 == len(self.actions) else (None, None)
            found[t] = back.step(self.by_reward[t], *by).T
        assert back.lost == 0 and back.t == -1
        return found, got


def differences(episode, seen):
    """Of each action and environment, and whether both sides agree: no contact opens, closes or begins to slide between them."""
    value = episode.J(episode.actions, seen)[0]
    found, smooth = (np.zeros((*episode.actions.shape, B), kind) for kind in (float, bool))
    for t, j in np.ndindex(*episode.actions.shape):
        change = np.zeros_like(episode.actions)
        change[t, j] = WIDTH
        above, below = (episode.J(episode.actions + sign * change, seen)[0] for sign in (1, -1))
        up, down = (above - value) / WIDTH, (value - below) / WIDTH
        found[t, j] = (up + down) / 2
        smooth[t, j] = np.abs(up - down) < 1e-4 * (1 + np.abs(up))
    return found, smooth


def assert_nothing_goes_on_where_an_episode_ends(episode):
    """Of actions before an end, cotangents of the last observation are zero; of those behind it they are not."""
    got, T = episode.collected(episode.actions, keep=True), len(episode.actions)
    ended = got.terminated[:-1].any(0)
    assert ended.any() and not ended.all()
    back = episode.env.pull_back(got)
    found = np.stack([back.step(None, episode.by_last if t + 1 == T else None)[:, 0] for t in reversed(range(T))])[::-1]
    for b in np.flatnonzero(ended):
        end = np.flatnonzero(got.terminated[:, b])[-1]
        assert not found[: end + 1, b].any() and (end + 1 == T or found[end + 1 :, b].any())
