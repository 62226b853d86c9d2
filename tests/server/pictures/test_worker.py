"""What is kept of a picture, and what is no picture."""

from __future__ import annotations

from io import BytesIO

import pytest
from PIL import Image

from server.errors import BadMessageError
from server.pictures.bare import bare, kind_of
from server.pictures.checking import Checking
from server.pictures.worker import SIDE_MAX, RefusedPictureError, look
from server.work.pool import Pool
from tests.server.pictures.files import bomb, chunk, made, moving, photo

MOST = 40_000_000


def shown(data: bytes) -> Image.Image:
    picture = Image.open(BytesIO(data))
    picture.load()
    return picture


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF"])
def test_a_plain_picture_is_kept_byte_for_byte(kind: str) -> None:
    data = made(kind)
    looked = look(data, MOST)
    assert (looked.kind, looked.width, looked.height) == (kind.lower(), 40, 30)
    assert looked.data == data


def test_where_a_photo_was_taken_is_not_kept_and_its_pixels_are_the_same() -> None:
    data = photo()
    looked = look(data, MOST)
    assert not shown(looked.data).getexif()
    for secret in (b"Exif", b"Camera", b"secret"):
        assert secret in data
        assert secret not in looked.data
    assert shown(looked.data).tobytes() == shown(data).tobytes()


def test_a_photo_is_turned_the_right_way_up() -> None:
    looked = look(photo(orientation=6), MOST)
    assert (looked.width, looked.height) == (30, 40)
    assert not shown(looked.data).getexif()
    red, green, _ = shown(looked.data).convert("RGB").getpixel((25, 5))  # type: ignore[misc]
    assert red > 150 > green


def test_a_big_picture_is_scaled_down() -> None:
    looked = look(made("JPEG", (5000, 100)), MOST)
    assert (looked.width, looked.height) == (SIDE_MAX, 51)
    assert shown(looked.data).size == (SIDE_MAX, 51)


def test_an_animation_goes_on_moving_and_loses_its_comment() -> None:
    data = moving()
    looked = look(data, MOST)
    assert b"hush" in data
    assert b"hush" not in looked.data
    assert shown(looked.data).n_frames == 3  # type: ignore[attr-defined]
    assert shown(looked.data).info["loop"] == 0


def test_texts_in_a_png_and_what_follows_its_end_are_not_kept() -> None:
    plain = made("PNG")
    data = plain[:-12] + chunk(b"tEXt", b"Author\0me") + plain[-12:] + b"<script>alert(1)</script>"
    assert look(data, MOST).data == plain


def test_what_follows_the_end_of_a_jpeg_is_not_kept() -> None:
    plain = made("JPEG", progressive=True)
    assert look(plain + b"PK\x03\x04 another file", MOST).data == plain


def test_the_exif_of_a_webp_is_not_kept() -> None:
    exif = Image.Exif()
    exif[0x010F] = "Camera & Sons"
    data = made("WEBP", exif=exif)
    assert b"Camera" in data
    kept = look(data, MOST).data
    assert b"Camera" not in kept
    assert shown(kept).size == (40, 30)


NO_PICTURES = [
    b"",
    b"hello",
    b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
    b"%PDF-1.7",
    b"BM" + bytes(100),
    b"GIF90a" + bytes(100),
]


@pytest.mark.parametrize("data", NO_PICTURES)
def test_only_four_kinds_are_taken_whatever_a_file_is_called(data: bytes) -> None:
    assert kind_of(data) == ""
    with pytest.raises(RefusedPictureError) as caught:
        look(data, MOST)
    assert caught.value.code == "not_a_picture"


@pytest.mark.parametrize("data", NO_PICTURES)
async def test_for_what_is_no_picture_no_process_is_started(
    data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def started(*arguments: object, **more: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr("asyncio.create_subprocess_exec", started)
    with pytest.raises(BadMessageError) as caught:
        await Checking(MOST, Pool(1)).check(data, "ann")
    assert caught.value.code == "not_a_picture"
    with pytest.raises(AssertionError):
        await Checking(MOST, Pool(1)).check(made("PNG"), "ann")


def test_a_bomb_is_refused_before_it_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    def loaded(_: object) -> None:
        raise AssertionError("it was decoded")

    monkeypatch.setattr("PIL.ImageFile.ImageFile.load", loaded)
    with pytest.raises(RefusedPictureError) as caught:
        look(bomb(30_000, 30_000), MOST)
    assert caught.value.code == "too_large"
    assert "30000 x 30000" in str(caught.value)


def test_an_animation_that_is_large_in_all_is_refused() -> None:
    with pytest.raises(RefusedPictureError) as caught:
        look(moving(frames=20), 100)
    assert caught.value.code == "too_large"
    with pytest.raises(RefusedPictureError) as caught:
        look(moving(frames=20), 300)
    assert caught.value.code == "too_large"
    assert "too long" in str(caught.value)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF"])
def test_a_cut_off_picture_is_refused_or_made_whole(kind: str) -> None:
    data = made(kind, (64, 64)) if kind != "GIF" else moving(3, (64, 64))
    codes = []
    for end in range(len(data)):
        try:
            looked = look(data[:end], MOST)
        except RefusedPictureError as error:
            codes.append(error.code)
        else:
            assert bare(looked.data) == looked.data
            assert shown(looked.data).size == (64, 64)
    assert len(codes) > len(data) // 2
    assert set(codes) == {"bad_picture", "not_a_picture"}


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF"])
def test_a_bare_file_is_as_bare_as_can_be(kind: str) -> None:
    data = made(kind)
    assert bare(bare(data)) == bare(data)
