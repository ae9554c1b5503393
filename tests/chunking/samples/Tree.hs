{-# LANGUAGE LambdaCase #-}
-- | Search trees.
module Data.Tree.Search
  ( Tree (..)
  , insert
  ) where

import qualified Data.List as List
import Data.Maybe (fromMaybe)

-- | A binary tree.
data Tree a
  = Leaf
  | Node (Tree a) a (Tree a)
  deriving (Eq, Show)

newtype Depth = Depth Int

type Path = [Bool]

class Container f where
  empty :: f a
  toL :: f a -> [a]

instance Container Tree where
  empty = Leaf
  toL Leaf = []
  toL (Node l x r) = toL l ++ [x] ++ toL r

-- | Puts a value into its place.
insert :: Ord a => a -> Tree a -> Tree a
insert x Leaf = Node Leaf x Leaf
insert x tree@(Node l y r)
  | x < y = Node (insert x l) y r
  | x > y = Node l y (insert x r)
  | otherwise = tree

depth :: Tree a -> Int
depth = \case
  Leaf -> 0
  Node l _ r -> 1 + max (depth l) (depth r)

(<+>) :: Ord a => Tree a -> Tree a -> Tree a
left <+> right = List.foldr insert left (toL right)
