// courseware: students register and enrol in courses, courses open and are removed
// (Biswas, thesis, section 4.5.1, after Gotsman et al., POPL 2016). Two things must
// hold: no course has more students than its capacity, and a course that was removed
// has none.
//
// A course has twice as many seats as it may fill, each a row of its own. Enrolling
// counts the seats taken and takes a free one, so two students who enrol at once
// write different rows: both invariants break by write skew, which snapshot
// isolation lets pass and only serializability does not.
#include "data/workload/application.hpp"
#include "data/workload/workload_spec.hpp"

namespace cupel::workload {

namespace {

enum : std::uint32_t { kStudents, kCourses, kSeats };
enum : std::uint32_t { kStatus = 0, kCourse = 1, kSeat = 2 };  // of a student; 0: no course
enum : std::uint32_t { kCapacity = 1 };                        // of a course
enum : std::uint32_t { kStudent = 0 };                         // of a seat; 0: free
constexpr std::int64_t kStudentCount = 200, kCourseCount = 20, kSeatsOfCourse = 8;
constexpr std::int64_t kPlaces = kSeatsOfCourse / 2;
constexpr const char* kActive = "active";
constexpr const char* kGone = "gone";

class Courseware final : public Application {
 public:
  explicit Courseware(const WorkloadOptions& o)
      : Application(o, tables(o), false),
        students_(scaled(kStudentCount, o.scale)),
        courses_(scaled(kCourseCount, o.scale)) {
    set_kinds({
        {"enrol", 40, [this](auto& r) { return enrol(r); }},
        {"drop", 15, [this](auto& r) { return drop(r); }},
        {"register", 10, [this](auto& r) { return register_student(r); }},
        {"deregister", 5, [this](auto& r) { return deregister(r); }},
        {"open-course", 5, [this](auto& r) { return open_course(r); }},
        {"remove-course", 5, [this](auto& r) { return remove_course(r); }},
        {"query", 20, [this](auto& r) { return query(r); }},
    });
  }

 private:
  static std::vector<TableSpec> tables(const WorkloadOptions& o) {
    const auto courses = scaled(kCourseCount, o.scale);
    return {
        {"students",
         {"student"},
         {"status", "course", "seat"},
         {scaled(kStudentCount, o.scale)},
         [](const RowKey&) {
           return std::vector<std::string>{kActive, "0", "0"};
         }},
        {"courses",
         {"course"},
         {"status", "capacity"},
         {courses},
         [](const RowKey&) {
           return std::vector<std::string>{kActive, std::to_string(kPlaces)};
         }},
        {"seats", {"course", "seat"}, {"student"}, {courses, kSeatsOfCourse}, [](const RowKey&) {
           return std::vector<std::string>{"0"};
         }}};
  }

  // Gives back the seat of a student who has one.
  static void leave(Rows& rows, std::int64_t student, const ReadRow& row) {
    const auto course = row.number(1), seat = row.number(2);
    if (course == 0) return;
    if (rows.read(kSeats, {course, seat}, {kStudent}).number(0) == student) {
      rows.write(kSeats, {course, seat}, {{kStudent, 0}});
    }
    rows.write(kStudents, {student}, {{kCourse, 0}, {kSeat, 0}});
  }
  static ReadRow student_row(Rows& rows, std::int64_t student) {
    return rows.read(kStudents, {student}, {kStatus, kCourse, kSeat});
  }

  Program enrol(base::Random& random) const {
    const auto student = random.between(1, students_), course = random.between(1, courses_);
    const auto first = random.between(0, kSeatsOfCourse - 1);  // where to look for a free seat
    return [=](Rows& rows) {
      const auto who = student_row(rows, student);
      const auto what = rows.read(kCourses, {course}, {kStatus, kCapacity});
      if (who.text(0) != kActive || who.number(1) != 0 || what.text(0) != kActive) {
        return rows.give_up();
      }
      std::int64_t taken = 0, free = 0;
      for (std::int64_t i = 0; i < kSeatsOfCourse; ++i) {
        const auto seat = (first + i) % kSeatsOfCourse + 1;
        const bool occupied = rows.read(kSeats, {course, seat}, {kStudent}).number(0) != 0;
        taken += occupied;
        if (!occupied && free == 0) free = seat;
      }
      if (!rows.ok()) return;
      if (free == 0 || taken >= what.number(1)) return rows.give_up();
      rows.write(kSeats, {course, free}, {{kStudent, student}});
      rows.write(kStudents, {student}, {{kCourse, course}, {kSeat, free}});
    };
  }

  Program drop(base::Random& random) const {
    const auto student = random.between(1, students_);
    return [=](Rows& rows) { leave(rows, student, student_row(rows, student)); };
  }

  Program register_student(base::Random& random) const {
    const auto student = random.between(1, students_);
    return [=](Rows& rows) {
      if (student_row(rows, student).text(0) == kActive) return;
      if (rows.ok()) rows.write(kStudents, {student}, {{kStatus, kActive}});
    };
  }

  Program deregister(base::Random& random) const {
    const auto student = random.between(1, students_);
    return [=](Rows& rows) {
      leave(rows, student, student_row(rows, student));
      if (rows.ok()) rows.write(kStudents, {student}, {{kStatus, kGone}});
    };
  }

  Program open_course(base::Random& random) const {
    const auto course = random.between(1, courses_);
    return [=](Rows& rows) {
      if (rows.read(kCourses, {course}, {kStatus}).text(0) == kActive) return;
      if (rows.ok()) rows.write(kCourses, {course}, {{kStatus, kActive}, {kCapacity, kPlaces}});
    };
  }

  // Sends away those whom it sees.
  Program remove_course(base::Random& random) const {
    const auto course = random.between(1, courses_);
    return [=](Rows& rows) {
      for (std::int64_t seat = 1; seat <= kSeatsOfCourse; ++seat) {
        const auto student = rows.read(kSeats, {course, seat}, {kStudent}).number(0);
        if (student != 0) leave(rows, student, student_row(rows, student));
      }
      if (rows.ok()) rows.write(kCourses, {course}, {{kStatus, kGone}});
    };
  }

  Program query(base::Random& random) const {
    const auto course = random.between(1, courses_);
    return [=](Rows& rows) {
      rows.read(kCourses, {course}, {kStatus, kCapacity});
      for (std::int64_t seat = 1; seat <= kSeatsOfCourse; ++seat) {
        rows.read(kSeats, {course, seat}, {kStudent});
      }
    };
  }

  std::int64_t students_, courses_;
};

}  // namespace

extern constinit const WorkloadSpec kCoursewareWorkload{
    {.name = "courseware",
     .summary = "students enrol in courses of limited capacity",
     .source = "Biswas, thesis, section 4.5.1",
     .page = "docs/reference/workloads/courseware.md"},
    [](const WorkloadOptions& options) -> WorkloadPointer {
      return std::make_unique<Courseware>(options);
    }};

}  // namespace cupel::workload
