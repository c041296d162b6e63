// swizproof --man: the manual page, from the options themselves.
#include "command/line/help.hpp"

#include <fmt/format.h>

namespace swizproof::command {

namespace {

/// Text as roff reads it back: no character of it is a command, a dash that breaks, or a curly quote.
std::string in_roff(std::string_view text) {
  std::string out;
  bool start = true;
  for (char const c : text) {
    if (start && (c == '.' || c == '\'')) out += "\\&";
    start = c == '\n';
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// Lines as they stand.
std::string verbatim(std::string const& text) {
  return fmt::format(".PP\n.nf\n.RS 4\n{}\n.RE\n.fi\n", in_roff(text));
}

/// `--at-most UINT:INT in [1 - 32]` is \fB--at-most\fR \fIUINT\fR: what --help says of a value is in its description here.
std::string entry(CLI::Option const& option) {
  std::string const type = option.get_type_name();
  std::size_t const brace = type.find(":{");
  std::string head = fmt::format("\\fB{}\\fR", in_roff(option.get_name()));
  if (!option.get_positional() && takes_value(option))
    head += fmt::format(
        " \\fI{}\\fR", in_roff(brace == type.npos ? type.substr(0, type.find(':')) : type.substr(brace + 1)));
  if (takes_several(option)) head += " ...";
  std::string text = option.get_description();
  if (!option.get_default_str().empty()) text += fmt::format(" (default: {})", option.get_default_str());
  if (!option.get_envname().empty()) text += fmt::format(" (environment: {})", option.get_envname());
  return fmt::format(".TP\n{}\n{}\n", head, in_roff(text));
}

std::string entries(CLI::App const& app) {
  std::string text;
  for (bool const positional : {true, false})
    for (CLI::Option const* option : options_of(app, positional))
      if (option != app.get_help_ptr()) text += entry(*option);
  return text;
}

/// `check LAYOUT --access ... [OPTIONS]`
std::string synopsis(CLI::App const& sub) {
  std::string text = fmt::format("\\fBswizproof {}\\fR", sub.get_name());
  for (CLI::Option const* option : sub.get_options()) {
    if (!option->get_positional() && !option->get_required()) continue;
    std::string const name = in_roff(option->get_name());
    std::string word =
        option->get_positional() ? "\\fI" + name + "\\fR" : "\\fB" + name + "\\fR \\fITEXT\\fR";
    if (takes_several(*option)) word += "...";
    text += option->get_required() ? " " + word : " [" + word + "]";
  }
  return text + " [\\fIOPTIONS\\fR]";
}

}  // namespace

std::string manual(CLI::App const& app) {
  auto const commands = commands_of(app);
  std::string page = fmt::format(
      ".\\\" Written by swizproof --man; do not edit.\n.TH SWIZPROOF 1 \"\" \"swizproof {0}\" \"User "
      "Commands\"\n"
      ".SH NAME\nswizproof \\- proofs about swizzles, layouts and banks of CUDA shared memory\n.SH "
      "SYNOPSIS\n",
      SWIZPROOF_VERSION);
  for (CLI::App const* sub : commands)
    page += fmt::format("{}{}\n", sub == commands.front() ? "" : ".br\n", synopsis(*sub));
  page += ".SH DESCRIPTION\n" + in_roff(question_of(app)) + "\n" + verbatim(example_of(app));
  page += ".SH COMMANDS\n";
  for (CLI::App const* sub : commands) {
    page += fmt::format(".SS swizproof {}\n{}\n", sub->get_name(), in_roff(question_of(*sub)));
    page += verbatim(example_of(*sub)) + entries(*sub);
    if (sub->get_footer() != app.get_footer()) page += ".PP\n" + in_roff(sub->get_footer()) + "\n";
  }
  page += ".SH OPTIONS OF EVERY COMMAND\n" + entries(app);
  page += ".SH EXIT STATUS\n" + in_roff(app.get_footer()) + "\n";
  page +=
      ".SH ENVIRONMENT\n.TP\n\\fBSWIZPROOF_TIMEOUT\\fR\nsets \\fB\\-\\-timeout\\fR where it is not given.\n"
      ".TP\n\\fBNO_COLOR\\fR\nno colours, unless \\fB\\-\\-color always\\fR is given.\n";
  return page;
}

}  // namespace swizproof::command
