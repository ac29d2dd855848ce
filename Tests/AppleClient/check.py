"""Calls the simulated App Store with Apple's own client, and verifies what it signs with Apple's verifier.

Usage: check.py PROGRAMS WORK

PROGRAMS  the folder of storesim
WORK      an empty folder, for the simulator's keys

deploy/test-apple-client runs it. Every endpoint that the client has is called, but those of Retention
Messaging: once with success, and once with each error that the simulator can have. Prints a line for each
call that went wrong, and a last line with counts. Exit codes: 0 all as expected, 1 not.
"""

import atexit
import http.server
import inspect
import json
import re
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

from appstoreserverlibrary import api_client
from appstoreserverlibrary.api_client import APIError, APIException, AppStoreServerAPIClient
from appstoreserverlibrary.models.AccountTenure import AccountTenure
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.ConsumptionRequestV1 import ConsumptionRequestV1
from appstoreserverlibrary.models.ConsumptionStatus import ConsumptionStatus
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.DeliveryStatusV1 import DeliveryStatusV1
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.InAppOwnershipType import InAppOwnershipType
from appstoreserverlibrary.models.LifetimeDollarsPurchased import LifetimeDollarsPurchased
from appstoreserverlibrary.models.LifetimeDollarsRefunded import LifetimeDollarsRefunded
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2
from appstoreserverlibrary.models.OrderLookupStatus import OrderLookupStatus
from appstoreserverlibrary.models.Platform import Platform
from appstoreserverlibrary.models.PlayTime import PlayTime
from appstoreserverlibrary.models.RefundPreference import RefundPreference
from appstoreserverlibrary.models.SendAttemptResult import SendAttemptResult
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.models.Subtype import Subtype
from appstoreserverlibrary.models.TransactionHistoryRequest import Order, ProductType, TransactionHistoryRequest
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest
from appstoreserverlibrary.models.UserStatus import UserStatus
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

PATIENCE = 60
BUNDLE, APP_ID = "com.example.scribe", 1234567890
PRO, BASIC = f"{BUNDLE}.pro.monthly", f"{BUNDLE}.basic.monthly"
DAY = 86_400_000
V2 = api_client.GetTransactionHistoryVersion.V2
TOKEN = "7e3fb20b-4cdb-47cc-936d-99d65f608138"


class Wrong(Exception):
    """A call had another outcome than expected."""


def expect(condition, what):
    if not condition:
        raise Wrong(what)


# MARK: The simulator, and the developer's server


class Receiver:
    """A server that takes notifications. It fails as often as it is told."""

    def __init__(self):
        self.bodies, self.failures = [], 0
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.bodies.append(json.loads(body)["signedPayload"])
                fails = receiver.failures > 0
                receiver.failures -= 1 if fails else 0
                self.send_response(503 if fails else 200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/notifications"


class Simulator:
    """A `storesim serve` of its own, whose time stands still until it is advanced."""

    def __init__(self, programs, folder, environment, *more):
        self.program, self.environment = programs / "storesim", environment
        self.process = subprocess.Popen(
            [self.program, "serve", "--listen", "127.0.0.1:0", "--directory", folder, "--environment",
             environment.value, "--speed", "0", "--population", "1", *more],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        # One that says nothing is killed, which ends its output.
        timer = threading.Timer(PATIENCE, self.process.kill)
        timer.start()
        lines = []
        for line in self.process.stderr:
            lines.append(line)
            if found := re.match(r"listening on (\S+)", line):
                self.url = f"http://{found.group(1)}"
                break
        else:
            timer.cancel()
            raise Wrong(f"storesim did not start: {''.join(lines)}")
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        settings = []
        for line in self.process.stdout:
            settings.append(line)
            if line.startswith("# Other clients"):
                break
        timer.cancel()
        self.settings = "".join(settings)
        value = lambda name: re.search(rf"\b{name}: '?([^\s']+)", self.settings).group(1)
        self.issuer, self.key_id = value("issuer_id"), value("key_id")
        self.private_key = Path(value("private_key_file")).read_bytes()
        root = x509.load_pem_x509_certificate((folder / "root.pem").read_bytes())
        self.root = root.public_bytes(Encoding.DER)

    def run(self, *arguments):
        outcome = subprocess.run(
            [self.program, *arguments, "--server", self.url, "--json"],
            capture_output=True, text=True, check=False, timeout=PATIENCE)
        if outcome.returncode != 0:
            raise Wrong(f"storesim {arguments[0]} failed: {outcome.stderr}")
        return json.loads(outcome.stdout)

    def buy(self, product, customer):
        return self.run("buy", product, "--customer", customer)["transactions"][0]

    def now(self):
        return self.run("clock", "show")["now"]

    def client(self, key_id=None, environment=None):
        client = AppStoreServerAPIClient(
            self.private_key, key_id or self.key_id, self.issuer, BUNDLE, self.environment)
        client._base_url = self.url + (f"/{environment.value.lower()}" if environment else "")
        return client

    def verifier(self):
        # With Apple's strict checks of the certificates.
        return SignedDataVerifier([self.root], False, self.environment, BUNDLE, APP_ID)

    def stop(self):
        self.process.terminate()
        if self.process.wait(timeout=PATIENCE) != 0:
            raise Wrong(f"storesim ended with exit code {self.process.returncode}")


# MARK: What the calls are about


class Story:
    """Customers of a simulator, and the ids of what they bought."""

    def __init__(self, simulator, receiver):
        self.simulator, self.receiver = simulator, receiver
        self.client, self.verifier = simulator.client(), simulator.verifier()
        self.start = simulator.now()
        self.history_days = 30 if simulator.environment == Environment.SANDBOX else 180
        bought = simulator.buy(PRO, "one")
        self.chain, self.order = bought["originalTransactionId"], bought["orderId"]
        self.ended = simulator.buy(PRO, "two")["originalTransactionId"]
        simulator.run("cancel", "two")
        member = simulator.run("share", "one", "--with", "three")
        self.family = member["transactions"][0]["transactionId"]
        simulator.run("clock", "advance", "32d")
        self.tokens = [simulator.buy("tokens", "one")["transactionId"] for _ in range(22)]
        self.lasting = simulator.buy("adfree", "one")["transactionId"]
        simulator.run("refund", self.tokens[0])
        everything = self.pages(TransactionHistoryRequest(productTypes=[ProductType.AUTO_RENEWABLE]))
        self.renewed = everything[-1].transactionId
        app = self.client.get_app_transaction_info(self.chain)
        self.app = self.verifier.verify_and_decode_app_transaction(app.signedAppTransactionInfo)
        old = simulator.run("customers", "customer-001")
        self.old = old["transactions"][0]["transactionId"]

    def pages(self, request):
        """All transactions of the first customer, verified."""
        revision, found = None, []
        while True:
            page = self.client.get_transaction_history(self.chain, revision, request, V2)
            expect(len(page.signedTransactions) <= 20, "a page has more than 20 transactions")
            found += map(self.verifier.verify_and_decode_signed_transaction, page.signedTransactions)
            revision = page.revision
            if not page.hasMore:
                return found

    def period(self, **filters):
        now = self.simulator.now()
        return NotificationHistoryRequest(
            startDate=now - (self.history_days - 1) * DAY, endDate=now + DAY, **filters)

    def consumption(self, **changes):
        return ConsumptionRequest(**{
            "customerConsented": True, "sampleContentProvided": False,
            "deliveryStatus": DeliveryStatus.DELIVERED, **changes})

    def consumption_v1(self, **changes):
        return ConsumptionRequestV1(**{
            "customerConsented": True, "consumptionStatus": ConsumptionStatus.NOT_CONSUMED,
            "platform": Platform.NON_APPLE, "sampleContentProvided": False,
            "deliveryStatus": DeliveryStatusV1.DID_NOT_DELIVER_DUE_TO_SERVER_OUTAGE, "appAccountToken": TOKEN,
            "accountTenure": AccountTenure.THIRTY_DAYS_TO_NINETY_DAYS, "playTime": PlayTime.ONE_DAY_TO_FOUR_DAYS,
            "lifetimeDollarsRefunded": LifetimeDollarsRefunded.ZERO_DOLLARS,
            "lifetimeDollarsPurchased": LifetimeDollarsPurchased.ZERO_DOLLARS,
            "userStatus": UserStatus.LIMITED_ACCESS, **changes})

    def extension(self, **changes):
        return ExtendRenewalDateRequest(**{
            "extendByDays": 7, "extendReasonCode": ExtendReasonCode.CUSTOMER_SATISFACTION,
            "requestIdentifier": "r1", **changes})

    def mass(self, **changes):
        return MassExtendRenewalDateRequest(**{
            "extendByDays": 7, "extendReasonCode": ExtendReasonCode.OTHER, "requestIdentifier": "m1",
            "productId": PRO, **changes})


# MARK: Successes. Each is named after the method of the client that it calls.


def get_transaction_info(story):
    info = story.client.get_transaction_info(story.chain)
    payload = story.verifier.verify_and_decode_signed_transaction(info.signedTransactionInfo)
    expect(payload.transactionId == story.chain and payload.productId == PRO, "another transaction")


def get_transaction_history(story):
    expect(len(story.pages(TransactionHistoryRequest())) == 25, "not all transactions")
    refunded = story.pages(TransactionHistoryRequest(revoked=True))
    expect([each.transactionId for each in refunded] == [story.tokens[0]], "not the refunded one")
    last = story.pages(TransactionHistoryRequest(sort=Order.DESCENDING))
    expect(last[0].transactionId == story.tokens[0], "the refund is not the last change")
    owned = TransactionHistoryRequest(
        inAppOwnershipType=InAppOwnershipType.PURCHASED, productIds=[PRO, BASIC],
        subscriptionGroupIdentifiers=["21000001"], startDate=story.start, endDate=story.start + 9 * DAY,
        revoked=False)
    expect(len(story.pages(owned)) == 1, "the filters do not hold")
    first = story.client.get_transaction_history(story.chain, None, TransactionHistoryRequest())
    expect(first.rawEnvironment == story.simulator.environment.value, "another environment")
    expect(first.bundleId == BUNDLE and first.hasMore, "another page")


def get_all_subscription_statuses(story):
    answer = story.client.get_all_subscription_statuses(story.renewed, [Status.ACTIVE, Status.EXPIRED])
    item = answer.data[0].lastTransactions[0]
    expect(item.status == Status.ACTIVE and item.originalTransactionId == story.chain, "another status")
    renewal = story.verifier.verify_and_decode_renewal_info(item.signedRenewalInfo)
    expect(renewal.autoRenewProductId == PRO, "another renewal info")
    expect(not story.client.get_all_subscription_statuses(story.chain, [Status.REVOKED]).data, "not filtered")


def get_refund_history(story):
    answer = story.client.get_refund_history(story.chain, None)
    expect(len(answer.signedTransactions) == 1 and answer.hasMore is False, "not one refund")
    again = story.client.get_refund_history(story.chain, answer.revision)
    expect(again.signedTransactions == [], "the revision gives the same again")


def look_up_order_id(story):
    answer = story.client.look_up_order_id(story.order)
    if story.simulator.environment == Environment.SANDBOX:
        expect(answer.status == OrderLookupStatus.INVALID, "an order in the Sandbox")
        return
    expect(answer.status == OrderLookupStatus.VALID, "the order is unknown")
    payload = story.verifier.verify_and_decode_signed_transaction(answer.signedTransactions[0])
    expect(payload.transactionId == story.chain, "another transaction")
    expect(story.client.look_up_order_id("MNONE").status == OrderLookupStatus.INVALID, "an unknown order")


def get_app_transaction_info(story):
    expect(story.app.bundleId == BUNDLE and story.app.appTransactionId, "another app transaction")
    by_app = story.client.get_transaction_history(
        story.app.appTransactionId, None, TransactionHistoryRequest(), V2)
    expect(len(by_app.signedTransactions) == 20, "not the same customer")


def finish_transaction(story):
    expect(story.client.finish_transaction(story.tokens[1]) is None, "an answer")


def set_app_account_token(story):
    story.client.set_app_account_token(story.chain, UpdateAppAccountTokenRequest(appAccountToken=TOKEN))
    info = story.client.get_transaction_info(story.renewed)
    payload = story.verifier.verify_and_decode_signed_transaction(info.signedTransactionInfo)
    expect(payload.appAccountToken == TOKEN, "the token is not set")


def send_consumption_information(story):
    story.client.send_consumption_information(story.tokens[2], story.consumption(
        consumptionPercentage=50_000, refundPreference=RefundPreference.GRANT_PRORATED))
    story.client.send_consumption_information(story.chain, story.consumption())


def send_consumption_data(story):
    story.client.send_consumption_data(story.tokens[2], story.consumption_v1())


def extend_subscription_renewal_date(story):
    answer = story.client.extend_subscription_renewal_date(story.chain, story.extension())
    expect(answer.success and answer.originalTransactionId == story.chain, "not extended")
    info = story.client.get_transaction_info(story.renewed)
    payload = story.verifier.verify_and_decode_signed_transaction(info.signedTransactionInfo)
    expect(payload.expiresDate == answer.effectiveDate, "another date")


def extend_renewal_date_for_all_active_subscribers(story):
    for _ in range(2):
        answer = story.client.extend_renewal_date_for_all_active_subscribers(story.mass())
        expect(answer.requestIdentifier == "m1", "another request")


def get_status_of_subscription_renewal_date_extensions(story):
    extend_renewal_date_for_all_active_subscribers(story)
    ask = lambda: story.client.get_status_of_subscription_renewal_date_extensions("m1", PRO)
    expect(ask().complete is False, "complete at once")
    story.simulator.run("clock", "advance", "2h")
    expect(ask().complete and ask().succeededCount >= 1 and ask().failedCount == 0, "not complete")


def request_test_notification(story):
    token = story.client.request_test_notification().testNotificationToken
    expect(token, "no token")
    return token


def get_test_notification_status(story):
    token, deadline = request_test_notification(story), time.monotonic() + PATIENCE
    while True:
        try:
            status = story.client.get_test_notification_status(token)
            break
        except APIException as error:
            expect(error.api_error == APIError.TEST_NOTIFICATION_NOT_FOUND, f"{error}")
            expect(time.monotonic() < deadline, "the notification was not sent")
            time.sleep(0.01)
    expect(status.sendAttempts[0].sendAttemptResult == SendAttemptResult.SUCCESS, "not sent")
    payload = story.verifier.verify_and_decode_notification(status.signedPayload)
    expect(payload.notificationType == NotificationTypeV2.TEST, "another notification")
    expect(status.signedPayload in story.receiver.bodies, "the developer's server has not got it")


def get_notification_history(story):
    token, found = None, []
    while True:
        page = story.client.get_notification_history(token, story.period())
        found += page.notificationHistory
        token = page.paginationToken
        if not page.hasMore:
            break
    expect(len(found) > 20, "no pages")
    for item in found:
        story.verifier.verify_and_decode_notification(item.signedPayload)
    one = story.client.get_notification_history(None, story.period(transactionId=story.ended))
    kinds = [story.verifier.verify_and_decode_notification(item.signedPayload).rawNotificationType
             for item in one.notificationHistory]
    # The first two are older than the history of the Sandbox.
    wanted = ["SUBSCRIBED", "DID_CHANGE_RENEWAL_STATUS", "EXPIRED"]
    expect(kinds == (wanted if story.history_days == 180 else wanted[2:]), f"{kinds}")
    story.receiver.failures = 1
    story.simulator.buy("tokens", "two")
    failed = story.client.get_notification_history(None, story.period(
        notificationType=NotificationTypeV2.ONE_TIME_CHARGE, onlyFailures=True))
    results = [each.sendAttemptResult for each in failed.notificationHistory[0].sendAttempts]
    expect(results == [SendAttemptResult.UNSUCCESSFUL_HTTP_RESPONSE_CODE], f"{results}")


SUCCESSES = [
    get_transaction_info, get_transaction_history, get_all_subscription_statuses, get_refund_history,
    look_up_order_id, get_app_transaction_info, finish_transaction, set_app_account_token,
    send_consumption_information, send_consumption_data, extend_subscription_renewal_date,
    extend_renewal_date_for_all_active_subscribers, get_status_of_subscription_renewal_date_extensions,
    request_test_notification, get_test_notification_status, get_notification_history,
]


# MARK: Errors


def errors(story):
    """The code of each error, and a call that has it."""
    client, now = story.client, story.simulator.now()
    history = lambda revision=None, **filters: client.get_transaction_history(
        story.chain, revision, TransactionHistoryRequest(**filters), V2)
    token = UpdateAppAccountTokenRequest(appAccountToken=TOKEN)
    between = lambda start, end, **more: client.get_notification_history(
        more.pop("page", None), NotificationHistoryRequest(startDate=start, endDate=end, **more))

    class Raw:
        """A value that the client's own types do not have."""

        def __init__(self, value):
            self.value = value

    v1 = lambda **changes: client.send_consumption_data(story.tokens[3], story.consumption_v1(**changes))
    return [
        (4000000, lambda: client.look_up_order_id("M_1")),
        (4000005, lambda: history(revision="none")),
        (4000005, lambda: client.get_refund_history(story.chain, "none")),
        (4000006, lambda: client.get_transaction_info("x")),
        (4000006, lambda: client.get_all_subscription_statuses("x")),
        (4000006, lambda: client.finish_transaction("x")),
        (4000006, lambda: between(now - DAY, now, transactionId="x")),
        (4000008, lambda: client.extend_subscription_renewal_date("x", story.extension())),
        (4000009, lambda: client.extend_subscription_renewal_date(story.chain, story.extension(extendByDays=91))),
        (4000010, lambda: client.extend_subscription_renewal_date(
            story.chain, ExtendRenewalDateRequest(extendByDays=1, requestIdentifier="r"))),
        (4000011, lambda: client.extend_subscription_renewal_date(
            story.chain, story.extension(requestIdentifier="r" * 129))),
        (4000012, lambda: between(1, now)),
        (4000013, lambda: between(now, now)),
        (4000014, lambda: between(now - DAY, now, page="none")),
        (4000015, lambda: between(None, now)),
        (4000016, lambda: between(now, None)),
        (4000018, lambda: between(now - DAY, now, notificationSubtype=Subtype.UPGRADE)),
        (4000019, lambda: between(
            now - DAY, now, transactionId=story.chain, notificationType=NotificationTypeV2.TEST)),
        (4000020, lambda: client.get_test_notification_status("none")),
        (4000021, lambda: history(sort=Raw("UP"))),
        (4000022, lambda: history(productTypes=[Raw("CONSUMABLES")])),
        (4000023, lambda: history(productIds=[""])),
        (4000023, lambda: client.get_status_of_subscription_renewal_date_extensions("m1", "none")),
        (4000024, lambda: history(subscriptionGroupIdentifiers=["x"])),
        (4000026, lambda: history(inAppOwnershipType=Raw("MINE"))),
        (4000027, lambda: client.extend_renewal_date_for_all_active_subscribers(
            story.mass(storefrontCountryCodes=[]))),
        (4000028, lambda: client.extend_renewal_date_for_all_active_subscribers(
            story.mass(storefrontCountryCodes=["Germany"]))),
        (4000030, lambda: history(revoked="perhaps")),
        (4000031, lambda: client.get_all_subscription_statuses(story.chain, [Raw(9)])),
        (4000032, lambda: v1(accountTenure=None)),
        (4000033, lambda: v1(appAccountToken="x")),
        (4000034, lambda: v1(consumptionStatus=None)),
        (4000035, lambda: v1(customerConsented=False)),
        (4000036, lambda: v1(deliveryStatus=None)),
        (4000037, lambda: v1(lifetimeDollarsPurchased=None)),
        (4000038, lambda: v1(lifetimeDollarsRefunded=None)),
        (4000039, lambda: v1(platform=None)),
        (4000040, lambda: v1(playTime=None)),
        (4000041, lambda: v1(sampleContentProvided=None)),
        (4000042, lambda: v1(userStatus=None)),
        (4000035, lambda: client.send_consumption_information(
            story.tokens[3], story.consumption(customerConsented=False))),
        (4000047, lambda: client.send_consumption_data(story.lasting, story.consumption_v1())),
        (4000048, lambda: client.get_transaction_info(story.app.appTransactionId)),
        (4000183, lambda: client.set_app_account_token(
            story.chain, UpdateAppAccountTokenRequest(appAccountToken="x"))),
        (4000185, lambda: client.set_app_account_token(story.family, token)),
        (4000185, lambda: client.send_consumption_information(story.family, story.consumption())),
        (4000187, lambda: client.set_app_account_token(story.renewed, token)),
        # Apple's library has no name for this one.
        (4000209, lambda: client.send_consumption_information(
            story.chain, story.consumption(consumptionPercentage=1))),
        (4030004, lambda: client.extend_subscription_renewal_date(story.ended, story.extension())),
        (4030005, lambda: [client.extend_subscription_renewal_date(story.chain, story.extension())
                           for _ in range(3)]),
        (4030007, lambda: client.extend_subscription_renewal_date(story.family, story.extension())),
        (4040005, lambda: client.set_app_account_token("999", token)),
        (4040005, lambda: client.extend_subscription_renewal_date("999", story.extension())),
        (4040008, lambda: client.get_test_notification_status(f"{TOKEN}_{now}")),
        (4040009, lambda: client.get_status_of_subscription_renewal_date_extensions("none", PRO)),
        (4040010, lambda: client.get_transaction_info("999")),
        (4040010, lambda: client.get_transaction_history("999", None, TransactionHistoryRequest(), V2)),
        (4040010, lambda: client.get_app_transaction_info("999")),
        (4040019, lambda: client.get_app_transaction_info(story.old)),
    ]


def is_of_retention_messaging(error):
    return (4000161 <= error.value <= 4000175 or 4000211 <= error.value <= 4000224
            or 4030014 <= error.value <= 4030026 or 4040014 <= error.value <= 4040018
            or 4040020 <= error.value or error.value // 1000 == 4090) and error.value < 4290000


def check_error(call, code):
    try:
        call()
    except APIException as error:
        expect((error.raw_api_error, error.http_status_code) == (code, code // 10000),
               f"{error.http_status_code} {error.raw_api_error} {error.error_message}; expected {code}")
        expect(error.error_message, "no message")
        return
    raise Wrong(f"succeeded; expected {code}")


def check_unauthorized(simulator):
    try:
        simulator.client(key_id="ABCDEFGHIJ").get_transaction_info("1")
    except APIException as error:
        expect(error.http_status_code == 401 and error.raw_api_error is None, f"{error}")
        return
    raise Wrong("succeeded with an unknown key")


def check_other_environment(story):
    environment = story.simulator.environment
    other = Environment.PRODUCTION if environment == Environment.SANDBOX else Environment.SANDBOX
    story.simulator.client(environment=environment).get_transaction_info(story.chain)
    check_error(lambda: story.simulator.client(environment=other).get_transaction_info(story.chain), 4040010)


def check_methods():
    """Every method of the client is called."""
    wanted = {name for name, member in inspect.getmembers(AppStoreServerAPIClient, inspect.isfunction)
              if not name.startswith("_")}
    messaging = {name for name in wanted
                 if re.search("image|message|realtime|performance_test", name)}
    called = {success.__name__ for success in SUCCESSES}
    expect(wanted - messaging == called, f"not called: {wanted - messaging - called}")


def check_limits(programs, folder):
    # One request an hour: 50 a second, a tenth in the Sandbox.
    simulator = Simulator(programs, folder, Environment.SANDBOX, "--rate-factor", "0.00005")
    check_error(lambda: simulator.client().get_transaction_info("999"), 4040010)
    check_error(lambda: simulator.client().get_transaction_info("999"), 4290000)
    # No URL for notifications.
    check_error(lambda: simulator.client().request_test_notification(), 4040007)
    simulator.stop()


def checks(programs, work):
    """Each check as a name and a function that raises Wrong."""
    yield "methods", check_methods
    for environment in (Environment.SANDBOX, Environment.PRODUCTION):
        receiver = Receiver()
        simulator = Simulator(
            programs, work / environment.value, environment, "--notify", receiver.url, "--rate-factor", "1000")
        story = Story(simulator, receiver)
        for success in SUCCESSES:
            yield f"{environment.value}: {success.__name__}", lambda: success(story)
        had = {4040007, 4290000}
        for number, (code, call) in enumerate(errors(story)):
            had.add(code)
            yield f"{environment.value}: error {code}, {number}", lambda: check_error(call, code)
        # What this App Store has no reason for is asked for. 4000043 is no longer used.
        for error in APIError:
            code = error.value
            if code in had or code == 4000043 or is_of_retention_messaging(error):
                continue

            def check_fault():
                simulator.run("fault", "api", "error", "--code", str(code), "--count", "1")
                check_error(lambda: story.client.get_transaction_info(story.chain), code)

            yield f"{environment.value}: error {code} on request", check_fault
        yield f"{environment.value}: unknown key", lambda: check_unauthorized(simulator)
        yield f"{environment.value}: the other environment", lambda: check_other_environment(story)
        yield f"{environment.value}: stop", simulator.stop
    yield "limits", lambda: check_limits(programs, work / "limits")


def main():
    programs, work = map(Path, sys.argv[1:3])
    # The first version of consumption information is for Advanced Commerce, and deprecated otherwise.
    warnings.simplefilter("ignore", DeprecationWarning)
    count, failures = 0, 0
    for name, check in checks(programs, work):
        count += 1
        try:
            check()
        except Exception as error:  # pylint: disable=broad-except
            failures += 1
            print(f"{name}: {type(error).__name__}: {error}")
    print(f"{len(SUCCESSES)} endpoints, {count} checks, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
