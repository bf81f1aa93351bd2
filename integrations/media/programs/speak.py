"""Speaks sentences into a WAV file of 24 kHz, mono, and says when each begins and ends.

Request: {out, sentences: [text], pause_ms}. Answer: {sample_rate, seconds, cues: [{text, start, end}]}.
The same request gives the same bytes: the noise in the voice has a fixed seed.
"""

import numpy as np
from hibari import SAMPLE_RATE, Hibari, write_wav

SEED = 1


def answer(request):
    voice = Hibari()
    pause = np.zeros(SAMPLE_RATE * request["pause_ms"] // 1000, np.float32)
    parts, cues, at = [], [], 0
    for text in request["sentences"]:
        audio = voice(text, seed=SEED)
        if len(audio) == 0:
            continue
        cues.append({"text": text, "start": at / SAMPLE_RATE, "end": (at + len(audio)) / SAMPLE_RATE})
        parts += [audio, pause]
        at += len(audio) + len(pause)
    audio = np.concatenate(parts) if parts else np.zeros(0, np.float32)
    write_wav(request["out"], audio)
    return {"sample_rate": SAMPLE_RATE, "seconds": len(audio) / SAMPLE_RATE, "cues": cues}
