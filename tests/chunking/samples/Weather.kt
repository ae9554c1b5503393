package org.example.weather

import kotlin.math.roundToInt

typealias Celsius = Double

/** What was measured. */
data class Reading(val station: String, val value: Celsius) {
    val rounded: Int
        get() = value.roundToInt()

    fun isFrost(): Boolean = value < 0

    companion object {
        fun parse(text: String): Reading {
            val (station, value) = text.split(":")
            return Reading(station, value.toDouble())
        }
    }
}

interface Sensor {
    fun read(): Reading
}

enum class Level {
    LOW, HIGH;

    fun next(): Level = if (this == LOW) HIGH else LOW
}

object Registry {
    private val sensors = mutableListOf<Sensor>()

    fun add(sensor: Sensor) {
        sensors += sensor
    }
}

/** The mean of many readings. */
fun List<Reading>.mean(): Celsius {
    return sumOf { it.value } / size
}

suspend fun poll(sensor: Sensor): Reading {
    return sensor.read()
}
