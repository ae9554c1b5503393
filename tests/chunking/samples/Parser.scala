package org.example
package parsing

import scala.util.Try

/** Reads one kind of value. */
trait Reader[A] {
  def read(text: String): Option[A]

  def map[B](f: A => B): Reader[B] = new Reader[B] {
    def read(text: String): Option[B] = Reader.this.read(text).map(f)
  }
}

object Reader {
  implicit val ints: Reader[Int] = new Reader[Int] {
    def read(text: String): Option[Int] = Try(text.toInt).toOption
  }

  def apply[A](implicit reader: Reader[A]): Reader[A] = reader
}

case class Token(kind: String, text: String) {
  def isBlank: Boolean = text.trim.isEmpty
}

sealed abstract class Parser(input: String) {
  private var position = 0

  type Result[A] = Either[String, A]

  protected def next(): Result[Char] = {
    val found = input.lift(position).toRight("end of input")
    position += 1
    found
  }
}
