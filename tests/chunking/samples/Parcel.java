package org.example.post;

import java.util.ArrayList;
import java.util.List;

/** A parcel on its way. */
@Deprecated
public class Parcel<T> implements Comparable<Parcel<T>> {
    private static final int MAX_WEIGHT = 30;
    private final List<T> content = new ArrayList<>();
    private int weight;

    public Parcel(int weight) {
        this.weight = weight;
    }

    /** Adds one thing. */
    public void add(T thing) {
        content.add(thing);
    }

    @Override
    public int compareTo(Parcel<T> other) {
        return Integer.compare(weight, other.weight);
    }

    enum Size {
        SMALL, LARGE;

        boolean fits(int weight) {
            return this == LARGE || weight < 5;
        }
    }

    record Label(String street, int number) {
        Label {
            if (number < 0) throw new IllegalArgumentException();
        }
    }

    interface Carrier {
        void deliver(Parcel<?> parcel);
    }
}
