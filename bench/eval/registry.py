"""Which policy solves which task."""

POLICIES = {}


def policy(*tasks):
    """Registers a function for tasks."""
    def register(function):
        for task in tasks:
            assert task not in POLICIES, task
            POLICIES[task] = function
        return function
    return register
