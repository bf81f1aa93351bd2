"""Writes down what is said in a WAV file of 16 kHz, mono.

Request: {audio}. Answer: {segments: [{text, start, end}]}, empty where nobody speaks.

The library finds where somebody speaks and has the model hear only that. The model makes words of everything, "You" of
silence above all, so that segments which are too short or too quiet for a word are left out as well.
"""

import wave

import numpy as np
from moonshine_voice import ModelArch, get_model_path
from moonshine_voice.transcriber import Transcriber

MIN_SECONDS = 0.25
MIN_LEVEL = 10 ** (-50 / 20)
MAX_PART_SECONDS = 60
CUT_SECONDS = 10
FRAME = 320


def level(samples):
    return np.sqrt(np.mean(samples**2)) if len(samples) else 0.0


def cuts(samples, rate):
    """Yields where parts begin and end: at the quietest moment of the last ten seconds of each minute."""
    begin = 0
    while len(samples) - begin > MAX_PART_SECONDS * rate:
        first = begin + (MAX_PART_SECONDS - CUT_SECONDS) * rate
        window = samples[first : first + CUT_SECONDS * rate].reshape(-1, FRAME)
        end = first + int(np.argmin(np.mean(window**2, axis=1))) * FRAME + FRAME // 2
        yield begin, end
        begin = end
    yield begin, len(samples)


def answer(request):
    with wave.open(request["audio"]) as file:
        rate = file.getframerate()
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768
    segments = []
    with Transcriber(str(get_model_path("tiny-en")), ModelArch.TINY) as transcriber:
        for begin, end in cuts(samples, rate):
            part = samples[begin:end]
            for line in transcriber.transcribe_without_streaming(part.tolist(), rate).lines:
                first = int(line.start_time * rate)
                heard = part[first : first + int(line.duration * rate)]
                text = line.text.strip()
                if not text or line.duration < MIN_SECONDS or level(heard) < MIN_LEVEL:
                    continue
                start = begin / rate + line.start_time
                segments.append({"text": text, "start": start, "end": start + line.duration})
    return {"segments": segments}
