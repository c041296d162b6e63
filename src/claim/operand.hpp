// Obligations on operands: descriptors, copies of the TMA, registers. The analyses decide them.
#pragma once

#include <swizproof/claim/obligation.hpp>

namespace swizproof {

/// Each decides a statement of an obligation into `report`: found, domain, detail, engines and basis. A refutation has the first
/// element that is read or written from elsewhere as its values. They throw InputError and Disagreement as the analyses do.
void decide_operand(DescriptorHolds const& hold, Obligation const& o, Limits const& limits,
                    ObligationReport& report);
void decide_operand(TmaHolds const& hold, Obligation const& o, Limits const& limits,
                    ObligationReport& report);
void decide_operand(FragmentHolds const& hold, Obligation const& o, Limits const& limits,
                    ObligationReport& report);
void decide_operand(RetileHolds const& hold, Obligation const& o, Limits const& limits,
                    ObligationReport& report);
void decide_operand(ThreadValuesHold const& hold, Obligation const& o, Limits const& limits,
                    ObligationReport& report);
void decide_operand(TmaBoxHolds const& hold, Obligation const& o, ObligationReport& report);

/// The same of a layout in other units, which no architecture changes.
void decide_conversion(ConversionHolds const& hold, Limits const& limits, ObligationReport& report);

}  // namespace swizproof
