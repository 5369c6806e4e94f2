"""Campaigns against assent itself: mutated inputs (`fuzz`), and kills, full disks, races (`chaos`)."""
