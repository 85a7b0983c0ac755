"""The open benchmark: revealed blind sets as tasks for any analyser, with a scorer that needs nothing of ours."""
