#include <vector>

namespace linear {

/// A dense matrix.
template <typename T>
class Matrix {
public:
    Matrix(int rows, int columns);
    ~Matrix() = default;

    T& at(int row, int column) { return cells_[row * columns_ + column]; }

    Matrix<T> operator*(const Matrix<T>& other) const;

    struct Shape {
        int rows;
        int columns;
        int area() const { return rows * columns; }
    };

private:
    int columns_;
    std::vector<T> cells_;
};

using Real = Matrix<double>;

enum class Order { Row, Column };

template <typename T>
Matrix<T>::Matrix(int rows, int columns) : columns_(columns), cells_(rows * columns) {}

template <typename T>
Matrix<T> Matrix<T>::operator*(const Matrix<T>& other) const {
    return Matrix<T>(columns_, other.columns_);
}

double trace(const Real& real) {
    return const_cast<Real&>(real).at(0, 0);
}

}  // namespace linear
