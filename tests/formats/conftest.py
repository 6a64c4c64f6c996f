import pytest

pytest.register_assert_rewrite("list_laws")
