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

POINT = "clicking or dragging to a point inside an element"
FOLLOW = "moving the pointer along a path while the page changes"

# Tasks without a policy, and the ability that Reins' tools (or the policies) lack for them.
LACKING = {
    "count-shape": "a policy that reads sizes and colours of shapes without refs",
    "bisect-angle": POINT,
    "circle-center": POINT,
    "daily-calendar": POINT,
    "drag-cube": POINT,
    "drag-shapes": POINT,
    "drag-shapes-2": POINT,
    "draw-circle": POINT,
    "draw-line": POINT,
    "find-midpoint": POINT,
    "resize-textarea": POINT,
    "right-angle": POINT,
    "chase-circle": FOLLOW,
    "hot-cold": FOLLOW,
    "hover-shape": FOLLOW,
    "moving-items": FOLLOW,
}
