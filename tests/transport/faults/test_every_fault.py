"""Every row of the tables of faults is produced by a test that says so here."""

from pathlib import Path

import pytest

from tui.transport.faults import TABLE

HERE = Path(__file__).parents[1]
# By file and test: the rows that it produces. A new row needs a test that leads to it.
# fmt: off
PRODUCED: dict[str, dict[str, str]] = {
    "../commands/test_questions_on_the_screen.py": {
        "test_a_key_that_was_agreed_to_but_kept_nowhere_counts_as_known": "host_key_changed_here",
    },
    "../test_other_systems.py": {
        "test_the_agent_on_a_machine_that_is_no_linux_is_refused_in_one_sentence": "agent_needs_linux",
    },
    "ssh/test_asking.py": {
        "test_a_no_adds_nothing_and_ends_it": "host_key_declined",
        "test_a_server_that_waits_no_longer_is_told_in_one_sentence": "unanswered",
        "test_a_key_that_stays_locked_is_left_for_the_next": "auth_locked",
    },
    "ssh/test_asking_again.py": {
        "test_a_login_that_is_given_up_asks_nothing_more": "given_up",
    },
    "ssh/test_config.py": {
        "test_a_broken_line_is_a_usage_fault": "config",
        "test_a_configuration_that_hangs_is_given_up": "config_slow",
        "test_what_only_openssh_understands_is_said_without_an_ssh_program": "config_plain",
    },
    "ssh/test_host_key.py": {
        "test_an_unknown_key_is_refused_with_its_fingerprint_and_the_command_to_add_it": "host_key_unknown",
        "test_without_an_ssh_program_the_line_to_add_is_told": "host_key_unknown_plain",
        "test_a_changed_key_is_refused_with_file_line_and_the_command_to_remove_it": "host_key_changed",
        "test_a_key_of_another_type_is_told_apart_and_refused": "host_key_other_type",
        "test_a_key_in_the_list_of_revoked_ones_is_refused": "host_key_revoked",
        "test_a_host_certificate_is_taken_from_the_authority_and_refused_from_another": "host_certificate",
        "test_a_file_of_known_hosts_that_cannot_be_read_is_told": "known_hosts_unread",
        "test_accept_new_adds_an_unknown_key_and_refuses_a_changed_one": "host_key_added",
        "test_strict_no_of_the_user_lets_a_changed_key_pass_and_says_so": "host_key_let_pass",
        "test_a_key_that_cannot_be_added_lets_in_and_that_is_said": "host_key_not_added",
        "test_no_known_hosts_file_does_not_switch_the_check_off": "host_key_unknown_unkept",
        "test_a_key_that_nobody_checks_lets_in_and_that_is_said": "host_key_unchecked",
    },
    "ssh/test_kept_settings.py": {
        "test_keys_that_are_too_short_are_neither_taken_nor_offered": "host_key_small",
    },
    "ssh/test_login.py": {
        "test_an_unknown_name_is_told_and_not_tried_again": "dns",
        "test_a_refused_port_is_told_and_not_tried_again_at_first": "refused",
        "test_an_address_that_does_not_answer_is_given_up": "timeout",
        "test_a_port_that_says_nothing_is_given_up": "login_timeout",
        "test_a_port_of_another_program_is_told": "never_spoke",
        "test_a_wrong_key_is_refused_with_what_was_tried_and_what_the_server_takes": "auth",
        "test_only_named_keys_of_a_full_agent_are_offered_with_identities_only": "too_many_keys",
        "test_a_host_that_allows_no_session_is_told": "no_session",
        "test_an_agent_that_hangs_is_left_out_by_name_and_key_files_are_tried": "key_agent_silent",
    },
    "ssh/test_odd_hosts.py": {
        "test_a_restricted_shell_is_refused_by_name": "restricted",
        "test_an_account_that_runs_one_command_alone_is_told": "no_login_shell",
        "test_a_key_that_may_run_one_command_alone_is_told": "forced_command",
        "test_a_host_without_a_python_that_works_is_told": "ended_early",
    },
    "ssh/test_pipe.py": {
        "test_a_killed_session_is_told_as_a_lost_link": "lost",
    },
    "ssh/test_program.py": {
        "test_a_program_that_went_away_is_told": "program_missing",
        "test_why_there_is_no_way_in_is_one_sentence":
            "program_usage program_dns program_refused program_host_key program_host_key_changed "
            "program_agreement program_auth",
        "test_a_program_that_ends_before_the_command_began_is_told_with_its_words": "program_failed",
        "test_a_program_that_never_logs_in_is_given_up_with_all_that_it_started": "program_slow",
        "test_a_port_that_speaks_no_ssh_is_told": "program_not_ssh",
        "test_a_cut_is_a_lost_link_and_a_silent_one_is_noticed_by_ssh": "program_lost",
        "test_a_program_that_goes_silent_is_a_lost_link": "program_silent",
        "test_a_command_that_is_not_called_ssh_gets_the_host_and_the_line_alone": "config_not_used",
    },
    "ssh/test_proxy.py": {
        "test_what_a_failing_proxy_says_is_told": "proxy",
        "test_a_proxy_that_fails_without_a_word_is_blamed_and_not_the_host": "proxy_ended",
        "test_a_host_behind_a_proxy_that_closes_at_once_is_told": "proxy_closed",
        "test_a_proxy_that_hangs_is_given_up_by_connect_timeout_and_blamed": "proxy_silent",
        "test_a_jump_host_without_address_is_told": "proxy_dns",
        "test_a_refused_login_at_the_jump_host_is_told": "proxy_auth",
        "test_an_unknown_key_of_the_jump_host_is_told": "proxy_host_key",
    },
    "ssh/test_rare_faults.py": {
        "test_a_missing_library_is_told": "library",
        "test_an_address_that_no_way_leads_to_is_told": "unreachable program_unreachable",
        "test_a_proxy_command_without_a_shell_to_run_it_is_told": "proxy_needs_shell",
        "test_a_server_that_speaks_something_else_after_its_greeting_is_told": "not_ssh",
        "test_a_server_that_ends_the_login_with_a_word_is_told_with_it": "disconnected",
        "test_ssh_that_waits_for_an_address_in_vain_is_told": "program_timeout",
        "test_ssh_that_gets_no_session_is_told": "program_no_session",
    },
    "ssh/test_takeover.py": {
        "test_the_first_answer_stands_where_ssh_gets_no_further": "no_agreement",
        "test_a_server_that_hangs_up_before_the_key_exchange_is_over_is_tried_by_ssh_once": "closed_early",
        "test_a_setting_of_ones_own_that_leaves_nothing_in_common_is_named": "no_agreement_here",
        "test_a_server_that_hangs_up_early_may_do_so_for_a_setting_of_ones_own": "closed_early_here",
        "test_a_known_hosts_command_is_left_to_ssh_which_runs_it": "ssh_keeps_more",
        "test_a_key_exchange_that_the_library_lacks_is_done_by_ssh_and_so_from_then_on": "ssh_gets_further",
    },
    "ssh/test_target.py": {
        "test_what_no_host_can_be_called_is_a_usage_fault": "target",
    },
    "test_agent_source.py": {
        "test_an_agent_that_says_nothing_is_given_up": "agent_silent",
        "test_a_killed_agent_is_started_again_and_asked_again": "agent_killed",
        "test_an_agent_that_fails_at_its_start_is_told_with_its_error": "agent_failed_at_once",
        "test_an_agent_that_fails_after_a_while_is_tried_again": "agent_failed",
        "test_the_agents_own_reason_is_told": "agent_said_goodbye",
    },
    "test_bootstrap.py": {
        "test_a_start_up_file_that_waits_is_told_with_what_it_printed": "python_slow",
        "test_noise_of_a_megabyte_is_an_end": "endless_noise",
        "test_no_python_is_told": "no_python",
        "test_an_old_python_alone_is_told_with_its_version": "old_python",
        "test_damaged_sources_are_told": "bad_source",
    },
    "test_local.py": {
        "test_a_command_that_is_not_there_is_told": "cannot_start_here",
        "test_writing_to_a_process_that_ended_is_void_and_told_by_drain": "ended_here",
    },
    "test_translate.py": {
        "test_a_line_without_end_is_an_error": "long_line",
        "test_an_invalid_message_is_an_error_with_its_text": "bad_message",
        "test_a_kind_of_a_newer_agent_is_told_once": "newer_agent",
    },
    "container_log/test_over_ssh.py": {
        "test_a_host_that_allows_one_session_is_named_and_the_watch_goes_on": "no_second_session",
    },
    "plain_shell/test_connection.py": {
        "test_a_shell_that_ends_is_a_lost_link": "shell_over",
        "test_a_shell_that_says_nothing_is_given_up": "shell_silent",
    },
    "test_wake.py": {
        "test_a_link_that_died_in_the_sleep_is_left_and_made_anew_at_once": "slept",
    },
    "test_wrapped_agent.py": {
        "test_what_does_not_start_inside_is_said_to_be_inside": "ended_early_inside cut_early",
        "test_a_cut_that_the_program_ends_with_0_is_a_lost_link_and_is_taken_up_again": "agent_over",
        "test_a_program_that_the_host_lacks_is_named": "no_program",
        "test_an_agent_that_was_killed_with_its_container_is_said_to_be_and_is_taken_up_again":
            "killed_inside",
    },
    "test_wrapper_end.py": {
        "test_each_known_failure_is_one_sentence_with_the_next_step":
            "no_container no_container_podman paused not_running no_daemon_rights no_daemon no_context "
            "no_namespace no_pod no_container_in_pod pod_over pod_not_started no_rights pod_link_cut "
            "no_cluster no_job job_pending no_node no_job_rights no_controller step_ended "
            "not_started_inside",
        "test_a_missing_program_is_named": "no_program_here",
        "test_a_container_without_python_is_said_to_have_none": "no_python_inside",
    },
    "container_log/test_reader.py": {
        "test_a_refused_log_is_one_sentence_and_one_that_passes_is_tried_again":
            "log_driver log_forbidden log_starting log_collected log_cut log_no_way log_command_ended",
        "test_a_job_has_no_such_log_and_that_is_said": "log_of_job",
        "test_what_was_rotated_away_meanwhile_is_a_gap": "log_rotated_away",
        "test_of_a_log_that_is_too_long_the_last_lines_are_read_and_that_is_said": "log_too_long",
    },
    "plain_shell/test_told.py": {
        "test_each_end_of_nvidia_smi_is_told_with_its_own_words":
            "smi_questions smi_not_available smi_no_rights smi_no_gpu smi_power smi_no_driver "
            "smi_interrupt smi_no_library smi_old_library smi_info_rom smi_gpu_lost smi_not_allowed "
            "smi_own_error smi_signal smi_ended_with",
        "test_where_it_could_be_left_behind_it_is_not_started": "shell_no_group",
        "test_a_log_that_is_not_there_is_waited_for": "shell_log_missing",
        "test_a_folder_is_no_log": "shell_log_no_file",
        "test_a_path_that_no_line_can_hold_is_refused": "shell_log_odd_name",
        "test_how_much_of_a_long_log_is_left_out_is_told": "shell_log_beginning",
    },
    "plain_shell/test_smi_gpus.py": {
        "test_its_end_is_told_in_words": "smi_ended",
        "test_its_silence_is_told_and_no_second_one_is_started": "smi_silent_at_first smi_silent",
        "test_a_row_that_stays_away_is_of_a_lost_gpu_and_one_that_is_late_is_not": "smi_gpu_unlisted",
        "test_words_about_a_gpu_that_cannot_be_reached_are_of_its_row": "smi_says",
    },
    "plain_shell/test_log.py": {
        "test_asked_to_skip_it_goes_on_at_the_last_line_and_tells_what_is_left_out": "shell_log_skipped",
        "test_a_log_that_the_shell_may_not_read_is_tried_again": "shell_log_unreadable",
    },
    "plain_shell/test_shells.py": {
        "test_a_truncated_log_is_read_anew_and_that_lines_may_be_lost_is_said": "shell_log_truncated",
    },
    "plain_shell/test_over_ssh.py": {
        "test_another_file_after_a_cut_is_read_from_its_beginning_and_the_gap_is_said": "shell_log_replaced",
        "test_gpus_and_log_are_seen_and_what_is_missing_is_said_once": "shell_no_python smi_no_number",
        "test_without_nvidia_smi_that_is_said": "smi_absent",
    },
    "plain_shell/test_ways.py": {
        "test_a_benchmark_fails_with_the_reason": "shell_no_benchmark",
    },
    "plain_shell/test_web.py": {
        "test_without_curl_and_wget_readiness_is_said_not_to_be_known": "shell_no_web",
    },
    "../commands/test_without_python.py": {
        "test_a_diagnosis_is_refused_with_the_reason": "shell_no_diagnosis",
    },
    "test_endpoint.py": {
        "test_it_is_said_what_a_url_alone_does_not_show": "url_alone",
    },
    "ssh/test_master.py": {
        "test_it_needs_no_login_of_its_own_and_that_is_said": "master_used",
        "test_when_it_dies_the_watch_finds_another_way": "master_gone",
    },
}
# fmt: on


def test_every_row_has_a_test_that_produces_it() -> None:
    rows = [row for tests in PRODUCED.values() for rows in tests.values() for row in rows.split()]

    assert sorted(rows) == sorted(TABLE)


@pytest.mark.parametrize("file", PRODUCED)
def test_those_tests_are_there(file: str) -> None:
    text = (HERE / file).read_text()

    assert [name for name in PRODUCED[file] if f"def {name}(" not in text] == []
