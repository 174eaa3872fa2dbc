"""Faults of tables that come in parts (5.5)."""

from reference_impl.broker.group_administration import GroupAdministration
from reference_impl.broker.pages import GROUPS, Pages
from reference_impl.mutants.registry import V55, mutant
from reference_impl.remoting.reply import RefusedError


@mutant(Pages.part_of, "Tables are shown as a whole, whatever part is asked for.", V55)
def tables_are_shown_as_a_whole(original, self, table, kind, ext, version):
    original(self, table, kind, ext, version)
    return dict(table)


@mutant(Pages.goes_on, "The next part of a table is shown although the table has changed.", V55)
def any_version_goes_on(original, self, told, version):
    return True


@mutant(Pages.total_of, "Parts of tables do not show how much there is.", V55)
def parts_do_not_show_the_total(original, self, table, kind):
    return {}


@mutant(Pages.part_of, "A part of a table that cannot be is empty.", V55)
def parts_may_be_nothing(original, self, table, kind, ext, version):
    try:
        return original(self, table, kind, ext, version)
    except RefusedError:
        return {}


@mutant(Pages.part_of, "A part of a table that would go beyond its end is refused.", V55)
def last_parts_are_refused(original, self, table, kind, ext, version):
    first, most = ext.get(kind.first), ext.get(kind.most)
    if first and most and first != "0" and len(table) - int(most) < int(first) < len(table):
        raise RefusedError("beyond the end")
    return original(self, table, kind, ext, version)


@mutant(GroupAdministration.all_groups, "A part of the groups shows all that is forbidden.", V55)
def parts_show_all_that_is_forbidden(original, self, command, connection, now):
    groups = self.broker.groups
    table, groups.table = (
        groups.table,
        self.broker.pages.part_of(groups.table, GROUPS, command.ext or {}, groups.version),
    )
    command.ext = None
    reply = original(self, command, connection, now)
    groups.table = table
    reply.ext = self.broker.pages.total_of(table, GROUPS)
    return reply
