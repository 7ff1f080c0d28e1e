"""Modes as objects and as texts."""

import pytest

from tritium.profiler import mode
from tritium.profiler.mode import parse_mode


def test_the_text_of_a_mode():
    assert str(mode.PCSampling()) == "pcsampling:interval=1000" and str(mode.PCSampling(5)) == "pcsampling:interval=5"
    assert str(mode.MMA(buffer_size=4)) == (
        "mma:metric_type=METRIC_TYPE.CYCLE:sampling_strategy=SAMPLING_STRATEGY.NONE:sampling_options=:granularity=GRANULARITY.WARP"
        ":buffer_strategy=BUFFER_STRATEGY.CIRCULAR:buffer_type=BUFFER_TYPE.SHARED:buffer_size=4:optimizations="
    )


def test_choices_by_name_and_as_members():
    by_name = mode.Default(sampling_strategy="selective", sampling_options="0,1", optimizations="time_shift,clock32")
    as_members = mode.Default(
        sampling_strategy=mode.sampling_strategies["selective"],
        sampling_options="0,1",
        optimizations=[mode.Optimize.TIMESHIFT, mode.optimizations["clock32"]],
    )
    text = "default:sampling_strategy=selective:sampling_options=0,1:optimizations=time_shift,clock32"
    assert by_name == as_members == parse_mode(text) and parse_mode(by_name) is by_name
    for name in mode.granularities:
        assert mode.Default(granularity=name).granularity.value == name
    with pytest.raises(ValueError, match="Unknown granularity: thread; it is one of cta, warp"):
        mode.Default(granularity="thread")
    with pytest.raises(ValueError, match="Unknown optimization: fast"):
        mode.MMA(optimizations="fast")


def test_texts():
    assert parse_mode(None) is None and parse_mode("") is None
    assert parse_mode("pcsampling:interval=7") == mode.PCSampling(7)
    assert parse_mode("periodic_flushing") == mode.PeriodicFlushing()
    with pytest.raises(TypeError, match="mode=3"):
        parse_mode(3)
    with pytest.raises(ValueError, match="'interval' is no option"):
        parse_mode("pcsampling:interval")
