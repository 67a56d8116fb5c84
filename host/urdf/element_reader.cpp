#include "host/urdf/element_reader.h"

#include <cmath>

namespace featherstorm::urdf {

namespace {

constexpr std::size_t kMaxName = 1000;  // longest name in bytes

}  // namespace

const tinyxml2::XMLElement* ElementReader::only_child(const XMLElement& e, const char* tag) const {
  const XMLElement* child = e.FirstChildElement(tag);
  if (child && child->NextSiblingElement(tag)) fail(*child->NextSiblingElement(tag), "occurs twice");
  return child;
}

const tinyxml2::XMLElement& ElementReader::needed_child(const XMLElement& e, const char* tag) const {
  const XMLElement* child = only_child(e, tag);
  if (!child) fail(e, "has no <" + std::string(tag) + ">");
  return *child;
}

std::string ElementReader::text_attribute(const XMLElement& e, const char* attribute) const {
  const char* value = e.Attribute(attribute);
  if (!value) fail(e, "has no attribute '" + std::string(attribute) + "'");
  const std::string text = value;
  if (text.empty()) fail(e, "has an empty " + std::string(attribute));
  if (text.size() > kMaxName) fail(e, "has a " + std::string(attribute) + " of more than 1000 bytes");
  if (!is_clean_utf8(text))
    fail(e, "has the " + std::string(attribute) + " " + quote(text) + ", which is not clean UTF-8");
  return text;
}

void ElementReader::numbers(const XMLElement& e, const char* attribute, int count, double* out) const {
  const char* value = e.Attribute(attribute);
  if (!value) fail(e, "has no attribute '" + std::string(attribute) + "'");
  const std::string wrong = parse_numbers(value, count, out);
  if (!wrong.empty()) fail(e, std::string(attribute) + ": " + wrong);
}

double ElementReader::number(const XMLElement& e, const char* attribute) const {
  double value = 0;
  numbers(e, attribute, 1, &value);
  return value;
}

double ElementReader::number_or(const XMLElement& e, const char* attribute, double otherwise) const {
  return e.Attribute(attribute) ? number(e, attribute) : otherwise;
}

double ElementReader::not_negative_or(const XMLElement& e, const char* attribute, double otherwise) {
  const double value = limit_or(e, attribute, otherwise);
  if (value >= 0) return value;
  odd(e, std::string(attribute) + " is negative", "taken as absent");
  return otherwise;
}

double ElementReader::limit_or(const XMLElement& e, const char* attribute, double otherwise) const {
  if (!e.Attribute(attribute)) return otherwise;
  double value = 0;
  const std::string wrong =
      parse_numbers(e.Attribute(attribute), 1, &value, strict_ ? kLargest : UrdfJoint::kUnlimited);
  if (!wrong.empty()) fail(e, std::string(attribute) + ": " + wrong);
  return value;
}

void ElementReader::read_origin(const XMLElement& e, Eigen::Matrix3d& rotation, Eigen::Vector3d& translation) const {
  rotation.setIdentity();
  translation.setZero();
  const XMLElement* origin = only_child(e, "origin");
  if (!origin) return;
  if (origin->Attribute("xyz")) numbers(*origin, "xyz", 3, translation.data());
  if (!origin->Attribute("rpy")) return;
  Eigen::Vector3d rpy, s, c;
  numbers(*origin, "rpy", 3, rpy.data());
  for (int i = 0; i < 3; ++i) {
    s[i] = std::sin(rpy[i]), c[i] = std::cos(rpy[i]);
    if (std::abs(s[i]) < kSnap) s[i] = 0, c[i] = c[i] < 0 ? -1 : 1;
    if (std::abs(c[i]) < kSnap) c[i] = 0, s[i] = s[i] < 0 ? -1 : 1;
  }
  // R = Rz(y) Ry(p) Rx(r)
  rotation << c[2] * c[1], c[2] * s[1] * s[0] - s[2] * c[0], c[2] * s[1] * c[0] + s[2] * s[0],  //
      s[2] * c[1], s[2] * s[1] * s[0] + c[2] * c[0], s[2] * s[1] * c[0] - c[2] * s[0],          //
      -s[1], c[1] * s[0], c[1] * c[0];
}

}  // namespace featherstorm::urdf
