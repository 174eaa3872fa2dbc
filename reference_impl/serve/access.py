"""What is wrong with the access control of a Broker, said before it starts."""

from __future__ import annotations

from reference_impl.access_files import files_of_access
from reference_impl.broker import PARTS, AclError, Config
from reference_impl.broker.acl.access import DEFAULT_FILE
from reference_impl.broker.acl.accounts import AclFile, read

from .problems import EXIT_CONFIGURATION, StartError, complain


def check_access(profile: str, config: Config) -> None:
    """Says where access control protects nothing, or lets no one in. Raises StartError."""
    if PARTS[profile].profile.v5:
        _check_users(config)
    if not config.acl_enable:
        return
    if PARTS[profile].profile.v5:
        complain(
            f"broker: aclEnable=true protects nothing: Brokers of {profile} do not have this access control; "
            "use --profile 4.9"
        )
        return
    home = config.rocketmq_home
    if not home:
        raise StartError(
            "aclEnable=true: expected rocketmqHome=DIR in the file, or ROCKETMQ_HOME in the environment; the "
            f"accounts are in DIR/{DEFAULT_FILE}",
            EXIT_CONFIGURATION,
        )
    if not any(map(_lets_in, _files(home))):
        complain(
            f"broker: aclEnable=true lets no one in: {home}/{DEFAULT_FILE} has no account; write "
            "accounts: [{accessKey: administrator, secretKey: change-me, admin: true}] into it, with keys of "
            "your own; it is read again without a restart"
        )


def _check_users(config: Config) -> None:
    if config.authentication_enabled and not config.authentication_metadata_provider:
        complain(
            "broker: authenticationEnabled=true protects nothing: there are no users without "
            "authenticationMetadataProvider"
        )
    if not config.authorization_enabled:
        return
    if not config.authentication_metadata_provider:
        complain(
            "broker: authorizationEnabled=true protects nothing: there are no users without "
            "authenticationMetadataProvider"
        )
    elif not config.authorization_metadata_provider:
        complain(
            "broker: authorizationEnabled=true lets only Super users in: there are no rights without "
            "authorizationMetadataProvider"
        )


def unreadable(home: str, error: AclError) -> StartError:
    """What a file of accounts says that cannot be used."""
    return StartError(f"{home}/{error}", EXIT_CONFIGURATION)


def _files(home: str) -> list[AclFile]:
    """Raises StartError."""
    try:
        return [read(name, data, 0) for name, data in files_of_access(home).items()]
    except AclError as error:
        raise unreadable(home, error) from error
    except OSError as error:
        raise StartError(
            f"aclEnable=true: {error.filename} cannot be read: {error.strerror}", EXIT_CONFIGURATION
        ) from error


def _lets_in(file: AclFile) -> bool:
    return bool(file.accounts) or any(white.pattern.strip() for white in file.white)
