"""Campaigns against assent itself: mutated inputs (`fuzz`), kills and full disks (`chaos`)."""
