#include "sass/forms.hpp"
using namespace swizproof::sass;
#ifdef MISTAKE
constexpr FormName form = "LEA.HI.SX23"_form;
#else
constexpr FormName form = "LEA.HI.SX32"_form;
#endif
