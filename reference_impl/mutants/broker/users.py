"""Faults of users, and of the signatures that requests need (5.x)."""

import msgspec

from harness.wire import ResponseCode
from reference_impl.broker import users
from reference_impl.broker.users import DISABLED, ENABLED, NORMAL, NOT_CHANGED, Users
from reference_impl.mutants.registry import V5, after, mutant
from reference_impl.remoting.reply import Reply


@mutant(Users.fault, "Requests without a user are served.", V5)
def requests_need_no_user(original, self, command):
    fault = original(self, command)
    return None if fault == "username cannot be null." else fault


@mutant(Users.fault, "A user whose name is a blank is none.", V5)
def blank_users_are_none(original, self, command):
    is_blank = not ((command.ext or {}).get("AccessKey") or "").strip()
    return "username cannot be null." if is_blank else original(self, command)


@after(Users.fault, "An unknown user is none.", V5)
def unknown_users_are_none(fault):
    return "username cannot be null." if fault and fault.endswith("is not found.") else fault


@mutant(Users.content, "What users sign is not the body.", V5)
def users_sign_no_body(original, self, command):
    return original(self, msgspec.structs.replace(command, body=b""))


@mutant(Users.content, "What users sign is in the order of the fields.", V5)
def users_sign_fields_as_they_come(original, self, command):
    ext = command.ext or {}
    return "".join(value or "" for name, value in ext.items() if name != "Signature").encode() + command.body


@mutant(Users.fault, "Any signature of a user will do.", V5)
def signatures_of_users_are_not_looked_at(original, self, command):
    fault = original(self, command)
    return None if fault == "check signature failed." else fault


@mutant(Users.put, "A user has the name that is in the body.", V5)
def users_are_called_as_their_body_says(original, self, user, said):
    original(self, msgspec.structs.replace(user, username=said.get("username") or user.username), said)


@mutant(Users.put, "Every user is a normal one.", V5)
def every_user_is_normal(original, self, user, said):
    original(self, user, {**said, "userType": NORMAL})


@mutant(Users.put, "A type that there is not stays that of the user.", V5)
def other_types_stay(original, self, user, said):
    kind = said.get("userType") or user.user_type
    original(self, msgspec.structs.replace(user, user_type=kind), {**said, "userType": None})


@mutant(Users.is_known, "A user is made again.", V5)
def users_are_made_again(original, self, name):
    return False


@mutant(Users.create, "A user needs no password.", V5)
def users_need_no_password(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    if reply.remark == "password can not be blank":
        self.put(users.User(command.ext["username"], ""), {})
        return Reply(ResponseCode.SUCCESS)
    return reply


@mutant(Users.create, "A user without a name is made.", V5)
def nameless_users_are_made(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    return Reply(ResponseCode.SUCCESS) if reply.remark == users.BLANK else reply


@mutant(Users.delete, "The removal of a user without a name succeeds.", V5)
def nameless_users_are_removed(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    return reply if (command.ext or {}).get("username") else Reply(ResponseCode.SUCCESS)


@mutant(Users.matching, "A filter is the beginning of a name.", V5)
def filters_of_users_are_beginnings(original, self, part):
    return [one for one in original(self, part) if one.username.startswith(part)]


@mutant(Users.matching, "A filter is not looked at.", V5)
def all_users_are_listed(original, self, part):
    return original(self, "")


@after(Users.show_all, "Where there are no users, the list is empty.", V5)
def no_users_are_an_empty_list(reply):
    reply.body = reply.body or b"[]"


@mutant(Users.put, "A password stays.", V5)
def passwords_stay(original, self, user, said):
    original(self, user, {**said, "password": user.password or said.get("password")})


@mutant(Users.put, "A user whose type is not said is a normal one.", V5)
def changed_users_are_normal(original, self, user, said):
    original(self, user, {"userType": NORMAL, **said})


@mutant(Users.put, "A user whose status is not said is enabled.", V5)
def changes_enable_users(original, self, user, said):
    original(self, user, {"userStatus": ENABLED, **said})


@mutant(Users.fault, "Users that are disabled may sign.", V5)
def disabled_users_sign(original, self, command):
    fault = original(self, command)
    return None if fault and fault.endswith("is disabled.") else fault


@mutant(Users.update, "A change of an unknown user makes it.", V5)
def changes_make_users(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    return self.create(command, connection, now) if reply.remark == "The user is not exist" else reply


@mutant(Users.remove, "A user that is removed stays.", V5)
def users_stay(original, self, name):
    pass


@mutant(Users.delete, "The removal of an unknown user is refused.", V5)
def unknown_users_are_not_removed(original, self, command, connection, now):
    known = self.is_known((command.ext or {}).get("username"))
    reply = original(self, command, connection, now)
    return reply if known else self.refused("The user is not exist")


@mutant(Users.save, "Users are not stored.", V5)
def users_are_not_stored(original, self):
    pass


@mutant(Users.save, "Users are stored as if none were disabled.", V5)
def changes_of_users_are_not_stored(original, self):
    table = self.table
    self.table = {
        name: msgspec.structs.replace(one, user_status="enable") if one.user_status == DISABLED else one
        for name, one in table.items()
    }
    original(self)
    self.table = table


@mutant(Users.is_below, "Every user makes, changes and removes Super users.", V5)
def every_user_changes_super_users(original, self, command):
    return False


@mutant(Users.update, "Who is no Super user changes none.", V5)
def super_users_alone_change_users(original, self, command, connection, now):
    if self.is_below(command) and b"Super" not in command.body:
        return self.refused(NOT_CHANGED)
    return original(self, command, connection, now)


@mutant(Users.delete, "Who is no Super user removes none.", V5)
def super_users_alone_remove_users(original, self, command, connection, now):
    return self.refused(NOT_CHANGED) if self.is_below(command) else original(self, command, connection, now)


@mutant(Users.update, "Every user raises users to Super users.", V5)
def every_user_raises_users(original, self, command, connection, now):
    user = self.table.get((command.ext or {}).get("username") or "")
    if b"Super" in command.body and user is not None:
        self.put(user, self.said(command))
        return Reply(ResponseCode.SUCCESS)
    return original(self, command, connection, now)


@mutant(Users.delete, "Where no rights are kept, no user is removed.", V5)
def removals_need_a_provider_of_rights(original, self, command, connection, now):
    if self.broker.rights.is_kept:
        return original(self, command, connection, now)
    return Reply(ResponseCode.SYSTEM_ERROR)


@mutant(Users.begin, "A start makes the first user anew.", V5)
def first_user_is_made_anew(original, self, text):
    self.put(msgspec.json.decode(text, type=users.User), {"userType": users.SUPER})


@mutant(Users.remove, "A user that is removed is there after a restart.", V5)
def removed_users_are_stored(original, self, name):
    self.table.pop(name, None)


@mutant(Users.create, "A user may be called by a blank.", V5)
def blanks_are_names_of_users(original, self, command, connection, now):
    reply = original(self, command, connection, now)
    return Reply(ResponseCode.SUCCESS) if reply.remark == users.NO_NAME else reply


@mutant(Users.put, "Blanks are a password.", V5)
def blanks_are_passwords(original, self, user, said):
    original(self, msgspec.structs.replace(user, password=said.get("password") or user.password), said)
