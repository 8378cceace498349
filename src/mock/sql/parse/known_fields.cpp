// The table of the nodes and fields that src/mock/sql reads, so that no part of a statement is
// ignored. Who reads one more adds it here, and who adds one reads it: whatever is in the table
// must have its effect, or none in PostgreSQL either.
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "mock/sql/parse/tree.hpp"

namespace cupel::sql {

namespace {

// Nodes and their fields; field=value where it may have no other value. A node that has no name in
// the tree is called as the field it is in.
constexpr const char* kNodes = R"(
SelectStmt: distinctClause targetList fromClause whereClause groupClause havingClause sortClause
  limitOffset limitCount limitOption=LIMIT_OPTION_DEFAULT limitOption=LIMIT_OPTION_COUNT
  lockingClause valuesLists op=SETOP_NONE larg rarg
InsertStmt: relation cols selectStmt onConflictClause returningList override=OVERRIDING_NOT_SET
UpdateStmt: relation targetList whereClause returningList
DeleteStmt: relation whereClause returningList
CreateStmt: relation tableElts oncommit=ONCOMMIT_NOOP if_not_exists
DropStmt: objects removeType=OBJECT_TABLE behavior missing_ok
IndexStmt: idxname relation accessMethod=btree indexParams if_not_exists concurrent whereClause
TransactionStmt: kind options savepoint_name    VariableSetStmt: kind name args is_local
VariableShowStmt: name    DiscardStmt: target=DISCARD_ALL    DeallocateStmt: name

relation: schemaname relname inh relpersistence=p alias
RangeVar: schemaname relname inh relpersistence=p alias
pktable: schemaname relname inh relpersistence=p
alias: aliasname    JoinExpr: jointype=JOIN_INNER jointype=JOIN_LEFT larg rarg quals
SortBy: node sortby_dir=SORTBY_DEFAULT sortby_dir=SORTBY_ASC sortby_dir=SORTBY_DESC
  sortby_nulls=SORTBY_NULLS_DEFAULT
LockingClause: lockedRels strength waitPolicy    onConflictClause: action    ResTarget: name val
ColumnDef: colname typeName is_local constraints    typeName: names typmods typemod
Constraint: contype conname raw_expr keys pktable fk_attrs pk_attrs fk_matchtype=s
  fk_upd_action=a fk_upd_action=r fk_del_action=a fk_del_action=r initially_valid
IndexElem: name ordering nulls_ordering    DefElem: defname arg defaction

ColumnRef: fields    A_Star:    A_Const: ival fval sval boolval isnull    ParamRef: number
ival: ival    fval: fval    sval: sval    boolval: boolval    List: items    String: sval
A_Expr: kind name lexpr rexpr    BoolExpr: boolop args    NullTest: arg nulltesttype
TypeCast: arg typeName    CoalesceExpr: args    SetToDefault:
FuncCall: funcname args agg_star agg_distinct funcformat    SQLValueFunction: op typmod
SubLink: subLinkType testexpr operName subselect
)";

const std::map<std::string, std::set<std::string>, std::less<>>& nodes() {
  static const auto kMade = [] {
    std::map<std::string, std::set<std::string>, std::less<>> made;
    std::istringstream text(kNodes);
    for (std::string node, word; text >> word;) {
      if (word.back() != ':') {
        made[node].insert(word);
      } else {
        made[node = word.substr(0, word.size() - 1)];
      }
    }
    return made;
  }();
  return kMade;
}

}  // namespace

void check_known(const Tree& statement) {
  std::vector<std::pair<const Tree*, std::string_view>> waiting{{&statement, ""}};
  while (!waiting.empty()) {
    const auto [tree, name] = waiting.back();
    waiting.pop_back();
    if (tree->is_array()) {
      for (const auto& part : *tree) waiting.emplace_back(&part, name);
    }
    if (!tree->is_object() || tree->empty()) continue;
    const bool named = tree->begin().key()[0] <= 'Z';
    const auto node = named ? kind_of(*tree) : name;
    const auto known = nodes().find(node);
    if (known == nodes().end()) not_supported("{}", in_sql(node));
    const auto& [_, fields] = *known;
    const auto& body = named ? body_of(*tree) : *tree;
    for (auto at = body.begin(); at != body.end(); ++at) {
      const auto value = at->is_string() ? at->get<std::string>() : "";
      waiting.emplace_back(&*at, at.key());
      if (at.key() == "location" || fields.contains(at.key()) ||
          fields.contains(at.key() + "=" + value)) {
        continue;
      }
      // SETOP_UNION; "u" says nothing, and that of a field that is not read neither.
      const bool of_value = value.size() > 1 && fields.lower_bound(at.key() + "=") !=
                                                    fields.lower_bound(at.key() + ">");
      not_supported("{} in {}", in_sql(of_value ? value.substr(value.find('_') + 1) : at.key()),
                    in_sql(node));
    }
  }
}

}  // namespace cupel::sql
