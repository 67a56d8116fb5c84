// Reads the elements of a URDF text. Errors name the text, the line and the element's owner.
#pragma once

#include <tinyxml2.h>

#include <string>
#include <string_view>
#include <vector>

#include "host/urdf/urdf.h"
#include "host/urdf/urdf_text.h"

namespace featherstorm::urdf {

class ElementReader {
 public:
  ElementReader(std::string_view name, bool strict) : name_(name), strict_(strict) {}

 protected:
  using XMLElement = tinyxml2::XMLElement;

  // sines and cosines below it become 0, because files write 1.57079632679 for pi / 2
  static constexpr double kSnap = 1e-10;

  [[noreturn]] void fail(int line, const std::string& reason) const { urdf::fail(name_, line, reason); }
  [[noreturn]] void fail(const XMLElement& e, const std::string& reason) const {
    fail(e.GetLineNum(), owner_ + "<" + printable(e.Name()) + "> " + reason);
  }

  // Odd but meaningful input: gives a notice; in strict mode throws.
  void odd(const XMLElement& e, const std::string& reason, const std::string& taken_as) {
    if (strict_) fail(e, reason);
    urdf_.odd.push_back(owner_ + "<" + printable(e.Name()) + "> " + reason + "; " + taken_as);
    urdf_.notices.push_back(urdf_.odd.back());
  }

  // The child `tag`; null if there is none. Two are an error.
  const XMLElement* only_child(const XMLElement& e, const char* tag) const;
  const XMLElement& needed_child(const XMLElement& e, const char* tag) const;
  std::string text_attribute(const XMLElement& e, const char* attribute) const;
  void numbers(const XMLElement& e, const char* attribute, int count, double* out) const;
  double number(const XMLElement& e, const char* attribute) const;
  double number_or(const XMLElement& e, const char* attribute, double otherwise) const;
  double not_negative_or(const XMLElement& e, const char* attribute, double otherwise);
  // The value of a limit, which may have any size.
  double limit_or(const XMLElement& e, const char* attribute, double otherwise) const;
  // Reads <origin xyz rpy> of `e`; identity if it or an attribute is missing.
  void read_origin(const XMLElement& e, Eigen::Matrix3d& rotation, Eigen::Vector3d& translation) const;
  // The <collision> elements of a link. A shape without a size, or of unknown kind, is odd and omitted.
  std::vector<UrdfShape> read_collisions(const XMLElement& link);

  std::string name_;
  bool strict_;
  std::string owner_;  // owner of the current element, for messages: "link 'a': "
  Urdf urdf_;

 private:
  bool read_shape(const XMLElement& geometry, UrdfShape& shape);
};

}  // namespace featherstorm::urdf
