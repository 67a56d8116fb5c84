// Reads the <collision> elements of a link.
#include "host/urdf/element_reader.h"

namespace featherstorm::urdf {

namespace {

// The first child of `e` that is a shape; null if there is none.
const tinyxml2::XMLElement* shape_of(const tinyxml2::XMLElement& e) {
  for (const char* tag : {"box", "cylinder", "sphere", "capsule", "mesh"})
    if (const tinyxml2::XMLElement* child = e.FirstChildElement(tag)) return child;
  return nullptr;
}

}  // namespace

// True if the geometry has a shape for contacts.
bool ElementReader::read_shape(const XMLElement& geometry, UrdfShape& shape) {
  const XMLElement* e = shape_of(geometry);
  if (!e) {
    odd(geometry, "has no box, cylinder, sphere, capsule or mesh", "left out");
    return false;
  }
  const std::string_view tag = e->Name();
  int sizes = 3;
  if (tag == "mesh") {
    shape.kind = UrdfShape::Kind::kMesh;
    shape.file = text_attribute(*e, "filename");
    shape.size.setOnes();
    if (e->Attribute("scale")) numbers(*e, "scale", 3, shape.size.data());
    if (shape.size.array().isZero(0) || (shape.size.array() == 0).any()) {
      odd(*e, "has a scale of 0", "left out");
      return false;
    }
    return true;
  }
  if (tag == "box") {
    shape.kind = UrdfShape::Kind::kBox;
    numbers(*e, "size", 3, shape.size.data());
    shape.size /= 2;
  } else {
    sizes = tag == "sphere" ? 1 : 2;
    shape.kind = tag == "sphere"     ? UrdfShape::Kind::kSphere
                 : tag == "cylinder" ? UrdfShape::Kind::kCylinder
                                     : UrdfShape::Kind::kCapsule;
    shape.size[0] = number(*e, "radius");
    if (sizes == 2) shape.size[1] = number(*e, "length") / 2;
  }
  if ((shape.size.head(sizes).array() > 0).all()) return true;
  odd(*e, "has a size that is not positive", "left out");
  return false;
}

std::vector<UrdfShape> ElementReader::read_collisions(const XMLElement& link) {
  std::vector<UrdfShape> shapes;
  for (const XMLElement* e = link.FirstChildElement("collision"); e; e = e->NextSiblingElement("collision")) {
    UrdfShape shape{.name = {}, .line = e->GetLineNum()};
    if (e->Attribute("name") && *e->Attribute("name")) shape.name = text_attribute(*e, "name");
    read_origin(*e, shape.rotation, shape.translation);
    if (read_shape(needed_child(*e, "geometry"), shape)) shapes.push_back(std::move(shape));
  }
  return shapes;
}

}  // namespace featherstorm::urdf
