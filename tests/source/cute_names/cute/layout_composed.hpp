#include <cute/layout.hpp>
