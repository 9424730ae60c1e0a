"""The sentences, items and rows of a passage."""

from policyproof_runtime.sentences import sentences


def test_a_sentence_that_the_source_wraps_is_one_line():
    assert sentences("Meals abroad are paid up to\na limit of 40. Tips are\n  not.") == [
        "Meals abroad are paid up to a limit of 40.",
        "Tips are not.",
    ]


def test_list_items_stand_alone():
    text = "The owner shall\n(a) keep a log\n(b) report\nfaults\n• ask\n– wait"
    assert sentences(text) == [
        "The owner shall",
        "(a) keep a log",
        "(b) report faults",
        "• ask",
        "– wait",
    ]


def test_a_row_is_joined_with_the_header_of_its_table():
    assert sentences("City | Limit\nOslo | 180\nBergen | 150") == [
        "City | Limit",
        "City | Limit Oslo | 180",
        "City | Limit Bergen | 150",
    ]


def test_a_table_after_prose_has_a_header_of_its_own():
    text = "City | Limit\nOslo | 180\nMeals differ.\nMeal | Price\nLunch | 20"
    assert sentences(text) == [
        "City | Limit",
        "City | Limit Oslo | 180",
        "Meals differ.",
        "Meal | Price",
        "Meal | Price Lunch | 20",
    ]


def test_a_blank_line_does_not_part_rows_from_their_header():
    assert sentences("City | Limit\n\nOslo | 180")[-1] == "City | Limit Oslo | 180"


def test_a_stroke_inside_a_word_makes_no_row():
    assert sentences("Answer yes|no.\nThen sign.") == ["Answer yes|no.", "Then sign."]


def test_no_text_has_no_sentences():
    assert sentences("") == sentences(" \n\n ") == []


def test_a_numbered_item_keeps_its_number():
    assert sentences("1. Pay.\nIt must:\n2. report\n10. ask") == [
        "1. Pay.",
        "It must:",
        "2. report",
        "10. ask",
    ]
