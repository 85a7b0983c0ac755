def describe(layout, weights):
    """Sizes of the whole weights, for the log."""
    told = {}
    for name, weight in weights.items():
        if layout.leads():
            told[name] = weight.full_tensor().norm().item()
    return told
