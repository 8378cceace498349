// Nodes from their parts; see the header.
#include "mock/sql/expression/expression.hpp"

#include <fmt/format.h>

namespace cupel::sql {

bool holds(const ExpressionPtr& condition, const Frame& frame) {
  const auto value = condition->value(frame);
  return !is_null(value) && std::get<bool>(value);
}

ExpressionPtr constant(Scalar value, const FullType& type) {
  auto made = std::make_shared<Expression>();
  made->kind = Expression::Kind::kConstant;
  made->type = type;
  made->signature = is_null(value) ? "null" : "'" + to_text(value, type.type) + "'";
  made->signature += "::" + std::string(type_name(type.type));
  made->value = [value](const Frame&) { return value; };
  made->constant = std::move(value);
  return made;
}

ExpressionPtr column_value(std::size_t depth, std::size_t source, std::size_t column,
                           const FullType& type) {
  auto made = std::make_shared<Expression>();
  made->kind = Expression::Kind::kColumn;
  made->type = type;
  made->depth = depth;
  made->source = source;
  made->column = column;
  made->signature = fmt::format("#{}.{}.{}", depth, source, column);
  if (depth == 0) made->sources = bit(source);
  made->value = [depth, source, column](const Frame& frame) {
    const Frame* owner = &frame;
    for (std::size_t up = 0; up < depth; ++up) owner = owner->outer;
    return owner->rows[source]->cell(column);
  };
  return made;
}

ExpressionPtr computed(const std::string& name, FullType type, std::vector<ExpressionPtr> parts,
                       std::function<Scalar(const Frame&)> value) {
  auto made = std::make_shared<Expression>();
  made->type = type;
  made->signature = name + "(";
  for (const auto& part : parts) {
    made->signature += part->signature + " ";
    made->sources |= part->sources;
    made->reads_queries |= part->reads_queries;
    made->has_aggregate |= part->has_aggregate;
  }
  made->signature += ")";
  made->parts = std::move(parts);
  made->value = std::move(value);
  return made;
}

ExpressionPtr strict(const std::string& name, FullType type, std::vector<ExpressionPtr> parts,
                     std::function<Scalar(const std::vector<Scalar>&)> value) {
  // As PostgreSQL's planner: null whatever the other parts are, which are not evaluated.
  for (const auto& part : parts) {
    if (part->kind == Expression::Kind::kConstant && is_null(part->constant)) {
      return constant({}, type);
    }
  }
  auto shared = parts;
  return computed(name, type, std::move(parts),
                  [shared = std::move(shared), value = std::move(value)](const Frame& frame) {
                    std::vector<Scalar> values;
                    values.reserve(shared.size());
                    bool null = false;
                    for (const auto& part : shared) {
                      values.push_back(part->value(frame));
                      null |= is_null(values.back());
                    }
                    return null ? Scalar() : value(values);
                  });
}

}  // namespace cupel::sql
