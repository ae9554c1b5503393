<?php

declare(strict_types=1);

namespace Shop\Basket;

use InvalidArgumentException;

const LIMIT = 99;

interface Priced
{
    public function price(): int;
}

trait Counts
{
    private int $count = 0;

    public function count(): int
    {
        return $this->count;
    }
}

/**
 * What a customer wants to buy.
 */
#[Final]
final class Cart implements Priced
{
    use Counts;

    public const CURRENCY = 'EUR';
    private array $lines = [];

    public function __construct(private string $owner)
    {
    }

    /** Adds a line. */
    public function add(string $article, int $price): void
    {
        if ($price < 0) {
            throw new InvalidArgumentException($article);
        }
        $this->lines[$article] = $price;
    }

    public function price(): int
    {
        return array_sum($this->lines);
    }
}

enum Status: string
{
    case Open = 'open';
    case Paid = 'paid';

    public function label(): string
    {
        return ucfirst($this->value);
    }
}

function total(Cart ...$carts): int
{
    return array_sum(array_map(fn (Cart $cart) => $cart->price(), $carts));
}

$discount = function (int $price): int {
    return intdiv($price * 9, 10);
};
