// Database URLs: what they hold, what is wrong with them, and that no password is
// shown.
#include "databases/drivers/url.hpp"

#include <gtest/gtest.h>

namespace cupel::drivers {
namespace {

TEST(Url, HasItsParts) {
  const auto url =
      parse_url("mysql://ann:s%3Acret@db.example:3307,other,[::1]:33/shop?ssl=1&a=%26");
  ASSERT_TRUE(url.ok()) << url.error().message;
  EXPECT_EQ(url->scheme, "mysql");
  EXPECT_EQ(url->user, "ann");
  EXPECT_EQ(url->password, "s:cret");
  ASSERT_EQ(url->hosts.size(), 3U);
  EXPECT_EQ(url->hosts[0].name, "db.example");
  EXPECT_EQ(url->hosts[0].port, 3307);
  EXPECT_EQ(url->hosts[1].name, "other");
  EXPECT_EQ(url->hosts[1].port, 0);
  EXPECT_EQ(url->hosts[2].name, "::1");
  EXPECT_EQ(url->hosts[2].port, 33);
  EXPECT_EQ(url->path, "shop");
  EXPECT_EQ(url->options, (std::map<std::string, std::string>{{"ssl", "1"}, {"a", "&"}}));
}

TEST(Url, MayBeAPathAlone) {
  const auto url = parse_url("sqlite:some folder/a@b.db?mode=immediate");
  ASSERT_TRUE(url.ok()) << url.error().message;
  EXPECT_TRUE(url->hosts.empty());
  EXPECT_EQ(url->path, "some folder/a@b.db");
  EXPECT_EQ(url->options.at("mode"), "immediate");
}

TEST(Url, OfThisMachineEncodesItsParts) {
  const auto url = local_url("postgres", "ann@x", "p@ss/w:%", 5432, "my shop");
  EXPECT_EQ(url, "postgres://ann%40x:p%40ss%2Fw%3A%25@127.0.0.1:5432/my%20shop");
  const auto parsed = parse_url(url);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->user, "ann@x");
  EXPECT_EQ(parsed->password, "p@ss/w:%");
  EXPECT_EQ(parsed->path, "my shop");
  EXPECT_EQ(local_url("mysql", "root", "", 1, "db"), "mysql://root@127.0.0.1:1/db");
}

TEST(Url, SaysWhatIsWrong) {
  const auto error = [](const char* text) {
    const auto url = parse_url(text);
    return url.ok() ? "nothing" : url.error().message;
  };
  EXPECT_NE(error("no scheme").find("expected a URL"), std::string::npos);
  EXPECT_NE(error("x://h:0/d").find("port"), std::string::npos);
  EXPECT_NE(error("x://h:66000/d").find("port"), std::string::npos);
  EXPECT_NE(error("x://h:12a/d").find("port"), std::string::npos);
  EXPECT_NE(error("x://[::1/d").find("expected `]`"), std::string::npos);
  EXPECT_NE(error("x://u:50%@h/d").find("%25"), std::string::npos);
  EXPECT_NE(error("x://h/d?ssl").find("NAME=VALUE"), std::string::npos);
  EXPECT_NE(error("x://h/d?a=1&a=2").find("twice"), std::string::npos);
}

TEST(Url, NeverShowsThePassword) {
  EXPECT_EQ(without_password("mysql://ann:secret@h:1/d?a=b"), "mysql://ann:***@h:1/d?a=b");
  EXPECT_EQ(without_password("mysql://ann@h:1/d"), "mysql://ann@h:1/d");
  EXPECT_EQ(without_password("mysql://h:1,g:2/d"), "mysql://h:1,g:2/d");
  EXPECT_EQ(without_password("redis://:secret@h"), "redis://:***@h");
  EXPECT_EQ(without_password("postgres://h/d?user=ann&password=secret&sslmode=disable"),
            "postgres://h/d?user=ann&password=***&sslmode=disable");
  // Not escaped as they should be: still not shown.
  for (const auto* url : {"mysql://ann:se/secret@h/d", "mysql://ann:se?secret@h/d",
                          "mysql://ann:se@secret@h/d", "mysql://ann:se:secret@h/d"}) {
    EXPECT_EQ(without_password(url).find("secret"), std::string::npos) << without_password(url);
    const auto parsed = parse_url(url);
    const auto message = parsed.ok() ? std::string() : parsed.error().message;
    EXPECT_EQ(message.find("secret"), std::string::npos) << message;
    EXPECT_EQ(message.find("ann:"), std::string::npos) << message;
  }
}

// As libpq, ADO.NET and the options of servers write it.
TEST(Url, NeverShowsThePasswordOfAKeyword) {
  for (const auto* text :
       {"host=h password=secret dbname=d", "password = secret", "password='secret word' host=h",
        "password='it\\'s secret' host=h", "host=h\npassword=secret", "Password=secret;Server=h",
        "jdbc:postgresql://h/d?user=ann&password=secret", "requirepass=secret",
        "lab:redis?option=requirepass=secret", "postgres://h/d?sslpassword=secret&password=secret",
        "jdbc:mysql://ann:secret@h/d"}) {
    const auto shown = without_password(text);
    EXPECT_EQ(shown.find("secret"), std::string::npos) << shown;
    EXPECT_NE(shown.find("***"), std::string::npos) << shown;
  }
  EXPECT_EQ(without_password("host=h password='a b' dbname=d"), "host=h password=*** dbname=d");
  EXPECT_EQ(without_password("postgres://h/d?passwords=7"), "postgres://h/d?passwords=7");
  EXPECT_EQ(without_password("my-password-file.edn"), "my-password-file.edn");
}

TEST(Url, OptionsThatNoOneTookAreErrors) {
  auto url = parse_url("sqlite:x?mode=a&jurnal=wal");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(take_option(*url, "mode"), "a");
  EXPECT_EQ(take_option(*url, "mode"), std::nullopt);
  const auto unknown = unknown_options(*url, "mode or journal");
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->message,
            "the URL has the option `jurnal`, which does not exist. Did you mean `journal`? Write "
            "mode or journal, or leave it out");
  const auto none = unknown_options(*url, "none");
  ASSERT_TRUE(none);
  EXPECT_EQ(none->message, "the URL has the option `jurnal`, and sqlite takes none. Leave it out");
  EXPECT_TRUE(take_option(*url, "jurnal"));
  EXPECT_FALSE(unknown_options(*url, "mode"));
}

TEST(Url, NumbersHaveBounds) {
  EXPECT_EQ(*option_number("n", "12", 0, 12), 12);
  EXPECT_FALSE(option_number("n", "13", 0, 12).ok());
  EXPECT_FALSE(option_number("n", "-1", 0, 12).ok());
  EXPECT_FALSE(option_number("n", "1s", 0, 12).ok());
  EXPECT_FALSE(option_number("n", "", 0, 12).ok());
}

}  // namespace
}  // namespace cupel::drivers
